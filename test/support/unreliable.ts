import { setTimeout as sleep } from 'node:timers/promises';
import { Subject } from 'rxjs';
import type { EntityManager } from 'typeorm';
import type { Database } from '../../src/database/database.js';
import type { Lane } from '../../src/database/in-transaction.js';
import type { HarnessEvent } from '../../src/events/harness-event.js';
import type { LoggedEvent } from '../../src/events/projection.js';
import { EventLog } from '../../src/runs/ports/event-log.port.js';
import { RunHints, type RunHint } from '../../src/runs/ports/run-hints.port.js';
import type { Lease } from '../../src/runs/run.js';
import type { Random } from './random.js';

/** Hints that come late, twice, in another order, without their events, and in part never. */
export class UnreliableHints extends RunHints {
  readonly hints$ = new Subject<RunHint>();
  /** Hints that are still on their way. */
  pending = 0;
  dropped = 0;

  constructor(
    private readonly random: Random,
    private readonly dropShare: number,
  ) {
    super();
  }

  publish(hint: RunHint): void {
    const copies = this.random.chance(0.2) ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      if (this.random.chance(this.dropShare)) this.dropped += 1;
      else this.send(this.random.chance(0.3) ? { runId: hint.runId, seq: hint.seq } : hint);
    }
  }

  private send(hint: RunHint): void {
    if (this.random.chance(0.5)) {
      this.hints$.next(hint);
      return;
    }
    this.pending += 1;
    setTimeout(() => {
      this.pending -= 1;
      this.hints$.next(hint);
    }, this.random.below(8));
  }
}

/** A log whose reads dawdle, before they look or with what they saw. */
export class SlowLog extends EventLog {
  /** Reads under way. */
  pending = 0;
  private readonly stalled = new Map<string, Promise<void>>();

  constructor(
    private readonly log: EventLog,
    private readonly random: Random,
  ) {
    super();
  }

  /** From now on reads of the run look at once and answer only when the returned function is called. */
  stall(runId: string): () => void {
    let goOn = (): void => undefined;
    this.stalled.set(runId, new Promise((resolve) => (goOn = resolve)));
    return () => {
      this.stalled.delete(runId);
      goOn();
    };
  }

  append(lease: Lease, event: HarnessEvent): Promise<void> {
    return this.log.append(lease, event);
  }

  settled(runId: string): Promise<void> {
    return this.log.settled(runId);
  }

  async read(runId: string, after: number, limit: number): Promise<readonly LoggedEvent[]> {
    this.pending += 1;
    try {
      const stalled = this.stalled.get(runId);
      if (stalled === undefined && this.random.chance(0.3)) await sleep(this.random.below(5));
      const events = await this.log.read(runId, after, limit);
      await stalled;
      if (this.random.chance(0.5)) await sleep(this.random.below(10));
      return events;
    } finally {
      this.pending -= 1;
    }
  }
}

/** The database, but some batches are taken back at the moment of their commit, and some commits take their time. */
export function flaky(database: Database, random: Random): Database {
  const inTransaction = <T>(work: (manager: EntityManager) => Promise<T>, lane?: Lane): Promise<T> =>
    database.inTransaction(async (manager) => {
      const done = await work(manager);
      if (random.chance(0.2)) await sleep(1);
      if (random.chance(0.2)) throw new Error('the commit failed');
      return done;
    }, lane);
  return Object.create(database, { inTransaction: { value: inTransaction } }) as Database;
}
