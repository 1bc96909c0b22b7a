import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Subscription } from 'rxjs';
import { Config } from '../../config/config.js';
import { Database } from '../../database/database.js';
import type { LoggedEvent } from '../../events/projection.js';
import { Logger } from '../../observability/logger.js';
import { chunksOf } from '../chunks.js';
import { FailureLog } from '../failure-log.js';
import { EventLog } from '../ports/event-log.port.js';
import { RunHints, type RunHint } from '../ports/run-hints.port.js';
import { Rounds } from '../rounds.js';

type Listener = (hint: RunHint) => void;

const AT_ONCE = 500;

/**
 * Spreads hints to the observers of each run, and looks itself, once a `events.pollMs`, in one query for all
 * watched runs: losing every hint costs at most that long. Observers at one place of a log share one read.
 */
@Injectable()
export class RunFeeds implements OnApplicationShutdown {
  private readonly listeners = new Map<string, Set<Listener>>();
  private readonly reads = new Map<string, Promise<readonly LoggedEvent[]>>();
  private readonly subscription: Subscription;
  private readonly rounds: Rounds;

  constructor(
    hints: RunHints,
    private readonly log: EventLog,
    private readonly database: Database,
    logger: Logger,
    config: Config,
  ) {
    this.subscription = hints.hints$.subscribe((hint) => this.spread(hint));
    const failures = new FailureLog(logger, 'observers could not look at the log');
    this.rounds = new Rounds(() => this.poll(), failures, { everyMs: config.events.pollMs });
    this.rounds.start();
  }

  onApplicationShutdown(): void {
    this.subscription.unsubscribe();
    this.rounds.stop();
  }

  /** Calls the listener for each hint of the run, until the returned function is called. */
  watch(runId: string, listener: Listener): () => void {
    const listeners = this.listeners.get(runId) ?? new Set();
    this.listeners.set(runId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.listeners.get(runId) === listeners) this.listeners.delete(runId);
    };
  }

  /**
   * Reads the log; equal reads asked for in one turn of the microtask queue are one. A read that has begun is not
   * shared: it may have missed a commit whose hint came before the newcomer listened.
   */
  read(runId: string, after: number, limit: number): Promise<readonly LoggedEvent[]> {
    const key = `${runId}:${after}:${limit}`;
    const known = this.reads.get(key);
    if (known !== undefined) return known;
    const read = Promise.resolve().then(() => {
      this.reads.delete(key);
      return this.log.read(runId, after, limit);
    });
    this.reads.set(key, read);
    return read;
  }

  private spread(hint: RunHint): void {
    for (const listener of this.listeners.get(hint.runId) ?? []) listener(hint);
  }

  private async poll(): Promise<void> {
    for (const runIds of chunksOf([...this.listeners.keys()], AT_ONCE)) await this.look(runIds);
  }

  private async look(runIds: readonly string[]): Promise<void> {
    const rows = await this.database.query<{ id: string; last_seq: number }>(
      `SELECT id, last_seq FROM runs WHERE id IN (${runIds.map(() => '?').join(', ')})`,
      runIds,
    );
    const lastSeqs = new Map(rows.map((row) => [row.id, Number(row.last_seq)]));
    for (const runId of runIds) {
      const seq = lastSeqs.get(runId);
      this.spread(seq === undefined ? { runId, seq: 0, isGone: true } : { runId, seq });
    }
  }
}
