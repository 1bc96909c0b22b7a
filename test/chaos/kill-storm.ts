import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../support/random.js';
import type { TestServer } from '../support/server.js';
import { fencedWritesOf, startChaosCluster, type ChaosCluster } from './chaos-cluster.js';
import { noFindings, type Findings } from './client.js';
import { countsOf, faultsAtRest, type Counts } from './invariants.js';
import { Load } from './load.js';

export interface StormOptions {
  readonly seed: number;
  readonly kills: number;
  /** Users who send messages meanwhile; default 12. */
  readonly users?: number;
}

export interface StormReport extends Counts, Findings {
  readonly seed: number;
  readonly kills: number;
  /** Of processes that lived to tell. */
  readonly fencedWrites: number;
  readonly seconds: number;
}

const PROCESSES = 3;

/**
 * Three processes on one database under load; one of them, at random, is killed and started again, time after time.
 * When the last kill is over, every run that was sent must come to its end, and the log must be whole.
 */
export async function killStorm({ seed, kills, users = 12 }: StormOptions): Promise<StormReport> {
  const startMs = Date.now();
  const cluster = await startChaosCluster(PROCESSES, {
    BRIDLE_RUNS_LEASE_MS: '3000',
    BRIDLE_RUNS_HEARTBEAT_MS: '1000',
    BRIDLE_RUNS_REAPER_MS: '500',
    BRIDLE_LOG_LEVEL: 'warn',
  });
  try {
    const random = new Random(seed);
    const findings = noFindings();
    const load = new Load(cluster.servers, random, findings);
    load.start(users);
    const killer = new Killer(cluster, random, findings);
    await killer.kill(kills);
    await load.end();
    const fencedWrites = await killer.fencedWrites();
    findings.faults.push(...(await faultsAtRest(cluster, load.runs)));
    const seconds = Math.round((Date.now() - startMs) / 1000);
    return { seed, kills, fencedWrites, seconds, ...(await countsOf(cluster)), ...findings };
  } finally {
    await cluster.dispose();
  }
}

class Killer {
  private readonly starting = new Map<TestServer, Promise<void>>();
  private fenced = 0;

  constructor(
    private readonly cluster: ChaosCluster,
    private readonly random: Random,
    private readonly findings: Findings,
  ) {}

  /** Kills so many times, then waits until every process is up again. */
  async kill(times: number): Promise<void> {
    for (let n = 0; n < times; n += 1) {
      await sleep(200 + this.random.below(1500));
      const running = this.cluster.servers.filter((server) => !this.starting.has(server));
      const victim = running[this.random.below(running.length)];
      if (victim === undefined) await Promise.race(this.starting.values());
      if (victim === undefined) n -= 1;
      else await this.killOne(victim);
    }
    await Promise.all(this.starting.values());
  }

  async fencedWrites(): Promise<number> {
    const now = await Promise.all(this.cluster.servers.map((server) => fencedWritesOf(server)));
    return now.reduce((sum, n) => sum + n, this.fenced);
  }

  private async killOne(victim: TestServer): Promise<void> {
    this.fenced += await fencedWritesOf(victim);
    await victim.kill9();
    const starting = victim
      .restart()
      .catch((error: unknown) => void this.findings.faults.push(`a start failed: ${String(error)}`))
      .finally(() => this.starting.delete(victim));
    this.starting.set(victim, starting);
  }
}
