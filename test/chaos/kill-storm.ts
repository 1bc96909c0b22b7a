import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../support/random.js';
import type { TestServer } from '../support/server.js';
import { fencedWritesOf, type ChaosCluster } from './chaos-cluster.js';
import type { Findings } from './findings.js';
import { Load } from './load.js';

export interface StormOptions {
  readonly kills: number;
  /** Users who send messages meanwhile. */
  readonly users: number;
}

/**
 * One process of the cluster, at random, is killed and started again, time after time, under load. Resolves when
 * every process is up again and every run that was sent has come to its end.
 */
export async function killStorm(
  cluster: ChaosCluster,
  findings: Findings,
  random: Random,
  { kills, users }: StormOptions,
): Promise<void> {
  const load = new Load(cluster.servers, random, findings);
  load.start(users);
  await new Killer(cluster, random, findings).kill(kills);
  await load.end();
}

class Killer {
  private readonly starting = new Map<TestServer, Promise<void>>();

  constructor(
    private readonly cluster: ChaosCluster,
    private readonly random: Random,
    private readonly findings: Findings,
  ) {}

  async kill(times: number): Promise<void> {
    for (let kill = 0; kill < times; kill += 1) {
      await sleep(200 + this.random.below(1500));
      // mostly one after the other, sometimes two at once, never all: somebody must get on with the work
      while (this.starting.size > (this.random.chance(0.3) ? 1 : 0)) await Promise.race(this.starting.values());
      const running = this.cluster.servers.filter((server) => !this.starting.has(server));
      await this.killOne(running[this.random.below(running.length)]!);
    }
    await Promise.all(this.starting.values());
  }

  private async killOne(victim: TestServer): Promise<void> {
    this.findings.fencedWrites += await fencedWritesOf(victim);
    await victim.kill9();
    this.findings.kills += 1;
    const starting = victim
      .restart()
      .catch((error: unknown) => void this.findings.faults.push(`a start failed: ${String(error)}`))
      .finally(() => this.starting.delete(victim));
    this.starting.set(victim, starting);
  }
}
