import type { EntityManager } from 'typeorm';
import type { Database } from '../../database/database.js';
import { toJson } from '../../database/columns.js';
import type { HarnessEvent } from '../../events/harness-event.js';
import type { LoggedEvent } from '../../events/projection.js';
import { FencedError } from '../ports/event-log.port.js';
import type { RunHints } from '../ports/run-hints.port.js';
import type { Lease, Run } from '../run.js';
import { insertEvents, stamp, type StampedEvents } from './event-rows.js';
import { lockRuns, updateRun } from './run-rows.js';
import { usageAfter } from './usage.js';
import { WaitingAppends, type RunAppends } from './waiting-appends.js';

/** What the committer tells the metrics. */
export interface CommitMetrics {
  committed(rows: number, ms: number): void;
  fenced(): void;
}

interface CommitterOptions {
  readonly coalesce: boolean;
  readonly deltaMaxBytes: number;
}

/**
 * Group commit: the appends of all runs of the process wait for the next flush and become one transaction. It
 * flushes on `setImmediate` when idle, else when the commit in flight ends.
 */
export class GroupCommitter {
  private readonly waiting: WaitingAppends;
  private isScheduled = false;
  private inFlight: Promise<void> | undefined;

  constructor(
    private readonly database: Database,
    private readonly hints: RunHints,
    private readonly metrics: CommitMetrics,
    private readonly options: CommitterOptions,
  ) {
    this.waiting = new WaitingAppends(options);
  }

  append(lease: Lease, event: HarnessEvent): Promise<void> {
    const appended = this.waiting.add(lease, event);
    this.schedule();
    return appended;
  }

  /** Resolves when what waits for the run now is committed or refused. */
  async settled(runId: string): Promise<void> {
    while (this.waiting.has(runId) || this.inFlight !== undefined) {
      await (this.inFlight ?? new Promise((resolve) => setImmediate(resolve)));
    }
  }

  private schedule(): void {
    if (this.isScheduled || this.inFlight !== undefined) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      this.inFlight = this.flush().finally(() => {
        this.inFlight = undefined;
        if (!this.waiting.isEmpty) this.schedule();
      });
    });
  }

  private async flush(): Promise<void> {
    const batch = this.waiting.take();
    const startedAt = performance.now();
    try {
      await this.commitThenPublish(batch);
      this.metrics.committed(
        batch.reduce((sum, run) => sum + run.events.length, 0),
        performance.now() - startedAt,
      );
    } catch (error) {
      for (const run of batch) run.reject(error);
    }
  }

  /** Durable before visible: observers hear of a row only after its commit. */
  protected async commitThenPublish(batch: readonly RunAppends[]): Promise<void> {
    const written = await this.database.inTransaction((manager) => this.write(manager, batch), 'batch');
    for (const { owner, events } of written) this.publish(owner.id, events);
    const committed = new Set(written.map(({ owner }) => owner.id));
    for (const run of batch) {
      if (committed.has(run.lease.runId)) {
        run.resolve();
      } else {
        this.metrics.fenced();
        run.reject(new FencedError(run.lease.runId));
      }
    }
  }

  protected publish(runId: string, events: readonly LoggedEvent[]): void {
    const last = events.at(-1);
    if (last !== undefined) this.hints.publish({ runId, seq: last.seq, events });
  }

  /** Locks the runs in id order, drops those whose lease is void, writes the rest. */
  protected async write(manager: EntityManager, batch: readonly RunAppends[]): Promise<StampedEvents[]> {
    const locked = await lockRuns(
      this.database,
      manager,
      batch.map((run) => run.lease.runId),
    );
    const runs = new Map(locked.map((run) => [run.id, run]));
    const stamped: StampedEvents[] = [];
    for (const { lease, events } of batch) {
      const run = runs.get(lease.runId);
      if (run === undefined || this.isFenced(run, lease)) continue;
      stamped.push({ owner: run, events: stamp(run, events) });
    }
    if (stamped.length === 0) return stamped;
    await insertEvents(manager, stamped);
    await this.raiseSequences(manager, stamped);
    await this.keepFacts(manager, runs, stamped);
    return stamped;
  }

  protected isFenced(run: Run, lease: Lease): boolean {
    return run.epoch !== lease.epoch || !(run.status === 'running' || run.status === 'cancelling');
  }

  /** One UPDATE for all runs of the batch. */
  private async raiseSequences(manager: EntityManager, batch: readonly StampedEvents[]): Promise<void> {
    const lasts = batch.map(({ owner, events }) => ({ id: owner.id, last: events[events.length - 1]! }));
    const byId = (column: string): string =>
      `${column} = CASE id ${lasts.map(() => 'WHEN ? THEN ?').join(' ')} ELSE ${column} END`;
    await manager.query(
      `UPDATE runs SET ${byId('last_seq')}, ${byId('code')}, ${byId('stage')} WHERE id IN (${lasts.map(() => '?').join(', ')})`,
      [
        ...lasts.flatMap(({ id, last }) => [id, last.seq]),
        ...lasts.flatMap(({ id, last }) => [id, last.code]),
        ...lasts.flatMap(({ id, last }) => [id, last.stage]),
        ...lasts.map(({ id }) => id),
      ],
    );
  }

  /** Tokens, and progress that makes earlier lost attempts forgotten. */
  private async keepFacts(
    manager: EntityManager,
    runs: ReadonlyMap<string, Run>,
    batch: readonly StampedEvents[],
  ): Promise<void> {
    for (const { owner, events } of batch) {
      const run = runs.get(owner.id)!;
      const usage = events.reduce(usageAfter, run.usage);
      const hasProgressed = events.some((event) => event.type === 'reason_end' || event.type === 'tool_call_end');
      if (usage !== run.usage) await updateRun(manager, run.id, { token_usage: toJson(usage) });
      if (hasProgressed && run.takeovers > 0) await updateRun(manager, run.id, { takeovers: 0 });
    }
  }
}
