import { setTimeout as sleep } from 'node:timers/promises';
import { canonicalHash } from '../../src/common/canonical-hash.js';
import { isTerminal, type EngineEvent } from '../../src/events/harness-event.js';
import type { LoggedEvent } from '../../src/events/projection.js';
import type { Database } from '../../src/database/database.js';
import { GroupCommitter } from '../../src/runs/log/group-committer.js';
import { FencedError } from '../../src/runs/ports/event-log.port.js';
import { RunObserver } from '../../src/runs/reading/run-observer.js';
import type { Lease } from '../../src/runs/run.js';
import { aCore, aSession, finish, submitted, turns, type CommitterFactory, type Core } from './core.js';
import { EngineEvents } from './fake-runtime.js';
import { Random } from './random.js';
import { flaky, SlowLog, UnreliableHints } from './unreliable.js';
import { flat } from './flat.js';

export interface FuzzOptions {
  readonly seed: number;
  readonly observers: number;
  /** Share of hints that never come; the observers' own look at the log is then every 20 ms, else once an hour. */
  readonly dropShare?: number;
  /** The observer under test. */
  readonly Observer?: typeof RunObserver;
  /** The committer under test. */
  readonly Committer?: typeof GroupCommitter;
}

export interface FuzzReport {
  /** What went wrong; empty when nothing was lost, repeated, out of order, changed or written by a fenced holder. */
  readonly faults: readonly string[];
  readonly observers: number;
  readonly runs: number;
  readonly events: number;
  readonly delivered: number;
  readonly takeovers: number;
  readonly fenced: number;
  readonly failedCommits: number;
}

/** One observer: where it began, what it got, whether it left before the end. */
interface Watch {
  readonly runId: string;
  readonly after: number;
  readonly leavesAfter: number;
  readonly got: LoggedEvent[];
  readonly abort: AbortController;
  /** Left by its signal, in the middle of whatever it did. */
  isGone: boolean;
  isOver: boolean;
  /** Timers that will still move it. */
  timers: number;
}

const RUNS = 10;
const WRITERS = 5;

/**
 * Observers join and leave at random while several runs are written, lost and taken over; log reads dawdle, commits
 * fail, hints misbehave. Afterwards each observer's events are compared with the log.
 */
export async function fuzzObservers(database: Database, options: FuzzOptions): Promise<FuzzReport> {
  return new ObserverFuzz(database, options).run();
}

class ObserverFuzz {
  private readonly random: Random;
  private readonly hints: UnreliableHints;
  private log!: SlowLog;
  private core!: Core;
  private readonly runIds: string[] = [];
  private readonly sessionIds = new Map<string, string>();
  private readonly over = new Set<string>();
  private readonly watches: Watch[] = [];
  private readonly watching: Promise<void>[] = [];
  /** Texts whose append resolved, by run. */
  private readonly written = new Map<string, string[]>();
  private takeovers = 0;
  private fenced = 0;
  private failedCommits = 0;
  private texts = 0;
  private readonly zombies: Promise<void>[] = [];

  constructor(
    private readonly database: Database,
    private readonly options: FuzzOptions,
  ) {
    this.random = new Random(options.seed);
    this.hints = new UnreliableHints(this.random, options.dropShare ?? 0);
  }

  async run(): Promise<FuzzReport> {
    const Committer = this.options.Committer ?? GroupCommitter;
    const committer: CommitterFactory = (database, ...rest) => new Committer(flaky(database, this.random), ...rest);
    this.core = await aCore(this.database, {
      hints: this.hints,
      committer,
      log: (log) => (this.log = new SlowLog(log, this.random)),
      variables: {
        BRIDLE_EVENTS_POLL_MS: this.options.dropShare === undefined ? '3600000' : '20',
        BRIDLE_RUNS_MAX_ATTEMPTS: '100',
        BRIDLE_EVENTS_DELTA_MAX_BYTES: '64',
      },
    });
    try {
      for (let n = 0; n < RUNS; n += 1) await this.submit();
      for (const runId of this.runIds) this.crowd(runId);
      const joining = this.join();
      await Promise.all(Array.from({ length: WRITERS }, () => this.work()));
      await Promise.all(this.zombies);
      await joining;
      const stuck = await this.stuckOnes();
      for (const watch of stuck) watch.abort.abort(new Error('the fuzz is over'));
      await Promise.race([Promise.all(this.watching), sleep(2000, undefined, { ref: false })]);
      return await this.report(stuck);
    } finally {
      await this.core.stop();
    }
  }

  private async submit(): Promise<void> {
    const sessionId = await aSession(this.core);
    const runId = await submitted(this.core, sessionId);
    this.runIds.push(runId);
    this.sessionIds.set(runId, sessionId);
  }

  /** Claims and writes runs until all are over. */
  private async work(): Promise<void> {
    while (this.over.size < RUNS) {
      const lease = await this.core.claims.claimNext();
      if (lease === undefined) await sleep(1);
      else await this.hold(lease);
    }
  }

  /** One tenure: it ends the run, or is lost in the middle. */
  private async hold(lease: Lease): Promise<void> {
    const isLost = this.random.chance(0.6);
    await this.write(lease, 10 + this.random.below(40));
    if (!isLost) {
      const goOn = this.log.stall(lease.runId);
      this.crowd(lease.runId);
      await sleep(2 + this.random.below(4));
      await finish(this.core, lease);
      goOn();
      this.over.add(lease.runId);
      return;
    }
    // the lost holder does not know it yet and goes on writing
    if (this.random.chance(0.8)) this.zombies.push(this.write(lease, 5 + this.random.below(10)));
    if (this.random.chance(0.5)) await sleep(this.random.below(3));
    await this.takeOver(lease.runId);
  }

  private async takeOver(runId: string): Promise<void> {
    const events = await this.core.takeover.takeOver(runId, undefined);
    this.takeovers += 1;
    this.hints.publish({ runId, seq: events.at(-1)!.seq, events });
  }

  private async write(lease: Lease, steps: number): Promise<void> {
    const sessionId = this.sessionIds.get(lease.runId)!;
    const events = new EngineEvents({ runId: lease.runId, sessionId }, `epoch-${lease.epoch}`);
    const reasonId = `reason-${lease.epoch}`;
    const appends: Promise<void>[] = [];
    for (let step = 0; step < steps; step += 1) {
      this.texts += 1;
      const text = `<${this.texts}>`;
      appends.push(this.append(lease, events.text(reasonId, text), text));
      if (this.random.chance(0.1)) appends.push(this.append(lease, events.start(reasonId)));
      if (this.random.chance(0.4)) await appends.at(-1);
      if (this.random.chance(0.3)) await sleep(this.random.below(4));
    }
    await Promise.all(appends);
  }

  private async append(lease: Lease, event: EngineEvent, text?: string): Promise<void> {
    try {
      await this.log.append(lease, event);
      if (text !== undefined) this.written.set(lease.runId, [...(this.written.get(lease.runId) ?? []), text]);
    } catch (error) {
      if (error instanceof FencedError) this.fenced += 1;
      else this.failedCommits += 1;
    }
  }

  /** Lets observers join while the runs are written. */
  private async join(): Promise<void> {
    const { observers } = this.options;
    while (this.watches.length < observers) {
      for (let n = Math.ceil(observers / 100); n > 0 && this.watches.length < observers; n -= 1) {
        this.watching.push(this.watch(this.runIds[this.random.below(RUNS)]!));
      }
      await sleep(this.over.size === RUNS ? 0 : this.random.below(8));
    }
  }

  /** Many at one time: at the beginning; and at the end, when what is lost no later event will show. */
  private crowd(runId: string): void {
    const { observers } = this.options;
    for (let n = Math.ceil(observers / RUNS / 4); n > 0 && this.watches.length < observers; n -= 1) {
      this.watching.push(this.watch(runId));
    }
  }

  private async watch(runId: string): Promise<void> {
    const reservation = { runId, abort: new AbortController(), got: [], isGone: false, isOver: false, timers: 0 };
    const leavesAfter = this.random.chance(0.4) ? this.random.below(20) : Number.POSITIVE_INFINITY;
    const isSlow = this.random.chance(0.3);
    const share = this.random.chance(0.3) ? 0 : this.random.next();
    const queued = 1 + this.random.below(20);
    const placeholder: Watch = { ...reservation, after: 0, leavesAfter };
    const index = this.watches.push(placeholder) - 1;
    const rows = await this.database.query<{ last_seq: number }>('SELECT last_seq FROM runs WHERE id = ?', [runId]);
    const watch: Watch = { ...placeholder, after: Math.floor(Number(rows[0]!.last_seq) * share) };
    this.watches[index] = watch;
    const Observer = this.options.Observer ?? RunObserver;
    const observer = new Observer(this.core.feeds, runId, watch.after, {
      maxQueuedEvents: queued,
      maxQueuedBytes: 1_000_000,
    });
    await this.follow(observer, watch, isSlow);
  }

  private async follow(observer: RunObserver, watch: Watch, isSlow: boolean): Promise<void> {
    const { got, leavesAfter, abort } = watch;
    const leaving = this.random.chance(0.2) ? this.leaveLater(watch) : undefined;
    if (leavesAfter > 0) {
      for await (const event of flat(observer.pieces(abort.signal))) {
        got.push(event);
        if (got.length >= leavesAfter) break;
        if (!isSlow || this.random.chance(0.7)) continue;
        watch.timers += 1;
        await sleep(this.random.below(5));
        watch.timers -= 1;
      }
    }
    clearTimeout(leaving);
    watch.isOver = true;
  }

  private leaveLater(watch: Watch): NodeJS.Timeout {
    watch.timers += 1;
    return setTimeout(() => {
      watch.timers -= 1;
      watch.isGone = true;
      watch.abort.abort(new Error('the client is gone'));
    }, this.random.below(60));
  }

  /** When nothing is on its way any more, who still waits for events that are in the log has lost them. */
  private async stuckOnes(): Promise<readonly Watch[]> {
    const waiting = (): readonly Watch[] => this.watches.filter((watch) => !watch.isOver);
    const deadlineMs = Date.now() + 20_000;
    for (let quiet = 0; quiet < 30 && waiting().length > 0 && Date.now() < deadlineMs;) {
      await turns(2);
      if (this.options.dropShare !== undefined) await sleep(5);
      const isMoving = this.hints.pending + this.log.pending > 0 || waiting().some((watch) => watch.timers > 0);
      quiet = isMoving || this.options.dropShare !== undefined ? 0 : quiet + 1;
    }
    return waiting();
  }

  private async report(stuck: readonly Watch[]): Promise<FuzzReport> {
    const faults: string[] = [];
    let events = 0;
    let delivered = 0;
    const logs = new Map<string, readonly LoggedEvent[]>();
    for (const runId of this.runIds) {
      const log = await this.core.log.read(runId, 0, 1_000_000);
      logs.set(runId, log);
      events += log.length;
      faults.push(...faultsOfLog(log, this.written.get(runId) ?? []));
    }
    for (const watch of this.watches) {
      delivered += watch.got.length;
      faults.push(...faultsOfWatch(watch, logs.get(watch.runId)!, stuck.includes(watch)));
    }
    const { takeovers, fenced, failedCommits } = this;
    return { faults, observers: this.watches.length, runs: RUNS, events, delivered, takeovers, fenced, failedCommits };
  }
}

function faultsOfLog(log: readonly LoggedEvent[], written: readonly string[]): string[] {
  const faults: string[] = [];
  const problem = (text: string): void => void faults.push(`log: ${text}`);
  log.forEach((event, index) => {
    if (event.seq !== index + 1) problem(`event ${index + 1} has the number ${event.seq}`);
  });
  if (log.findIndex((event) => isTerminal(event)) !== log.length - 1) problem('the terminal event is not the last');
  let epoch = 0;
  for (const event of log) {
    if (event.type === 'run_running') epoch += 1;
    if (event.type === 'reason_delta' && event.streamId !== `epoch-${epoch}`)
      problem(`${event.streamId} wrote in ${epoch}`);
    if (event.type === 'recovered') epoch += 1;
  }
  const texts = log.flatMap((event) => (event.type === 'reason_delta' ? (event.text?.match(/<\d+>/g) ?? []) : []));
  if (texts.toSorted().join() !== written.toSorted().join()) problem('it is not what was acknowledged');
  return faults;
}

function faultsOfWatch(watch: Watch, log: readonly LoggedEvent[], isStuck: boolean): string[] {
  const { after, got, leavesAfter, isGone } = watch;
  if (isGone && isStuck) return [`observer from ${after} does not end when its client is gone`];
  const window = log.slice(after, after + Math.min(isGone ? got.length : leavesAfter, log.length));
  const from = `observer from ${after}`;
  if (got.map((event) => event.seq).join() !== window.map((event) => event.seq).join()) {
    const what = isStuck ? 'waits for ever' : 'left';
    return [`${from} ${what} with ${got.length} of ${window.length} events: ${got.map((event) => event.seq).join()}`];
  }
  const changed = window.find((event, index) => canonicalHash(event) !== canonicalHash(got[index]));
  return changed === undefined ? [] : [`${from} got another event ${changed.seq} than the log has`];
}
