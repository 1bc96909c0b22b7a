import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../support/random.js';
import type { TestServer } from '../support/server.js';
import { upTo } from '../support/v1-client.js';
import { ChaosClient } from './client.js';
import type { Findings } from './findings.js';

/** Runs wait behind others that were lost, and behind processes that start. */
const PATIENCE_MS = 300_000;

interface Script {
  readonly script: string;
  readonly text: string;
}

/** Users who talk to their sessions until they are told to stop, one message after another or two at once. */
export class Load {
  private readonly users: Promise<void>[] = [];
  private isOver = false;
  private scripts = 0;

  constructor(
    private readonly servers: readonly TestServer[],
    private readonly random: Random,
    private readonly findings: Findings,
  ) {}

  start(users: number): void {
    for (let user = 0; user < users; user += 1) {
      const random = new Random(this.random.below(2 ** 31));
      this.users.push(this.talk(new ChaosClient(this.servers, random, this.findings, PATIENCE_MS), random));
    }
  }

  /** Lets every user finish what was sent. */
  async end(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.users);
  }

  private async talk(client: ChaosClient, random: Random): Promise<void> {
    try {
      while (!this.isOver) {
        const sessionId = await client.session();
        for (let turn = 1 + random.below(4); turn > 0 && !this.isOver; turn -= 1) {
          const atOnce = random.chance(0.2) ? 2 : 1;
          await Promise.all(upTo(atOnce).map(() => this.runOne(client, random, sessionId)));
        }
      }
    } catch (error) {
      this.findings.faults.push(`a user gave up: ${String(error)}`);
    }
  }

  private async runOne(client: ChaosClient, random: Random, sessionId: string): Promise<void> {
    this.scripts += 1;
    const { script, text } = aScript(this.scripts, random);
    const key = await client.send(sessionId, script);
    const observers = random.chance(0.3) ? 2 : 1;
    const cancelling = random.chance(0.1) ? sleep(random.below(600)).then(() => client.cancel(key)) : undefined;
    const observations = await Promise.all(upTo(observers).map(() => client.follow(key)));
    await cancelling;
    this.findings.runs.push({ key, text, observations });
  }
}

/** A script of some hundred milliseconds, with tools whose effects may happen once. */
function aScript(n: number, random: Random): Script {
  const ms = (): number => 20 + random.below(200);
  const end = `end ${n}`;
  const scripts: Script[] = [
    { script: `say:hello;tool:pay:${ms()};say:${end}`, text: end },
    { script: `tool:pay:${ms()};tool:idem_put:${ms()};tool:ro_get:${ms()};say:${end}`, text: end },
    { script: `tools:pay:${ms()},ship:${ms()};say:and;tool:mail:${ms()};say:${end}`, text: end },
    { script: `think:hm;say:one;tool:pay:${ms()};think:well;say:${end}`, text: end },
  ];
  const words = 10 + random.below(40);
  const streamed = upTo(words).map((word) => `w${word} `);
  scripts.push({ script: `tool:pay:${ms()};stream:${words}:${1 + random.below(20)}`, text: streamed.join('') });
  return scripts[random.below(scripts.length)]!;
}
