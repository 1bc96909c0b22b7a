import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Config } from '../../config/config.js';
import { fromJson, toJson } from '../../database/columns.js';
import { Database } from '../../database/database.js';
import { isRefused } from '../../database/database-errors.js';
import type { HarnessEvent } from '../../events/harness-event.js';
import type { LoggedEvent } from '../../events/projection.js';
import type { Usage } from '../../events/values.js';
import { Metrics } from '../../observability/metrics.js';
import { FencedError } from '../ports/event-log.port.js';
import { RunHints } from '../ports/run-hints.port.js';
import type { Lease } from '../run.js';
import { insertEvents, stamp, type StampedEvents } from './event-rows.js';
import { lockHeads, updateRun, type RunHead } from './run-rows.js';
import { reportsUsage, usageAfter } from './usage.js';
import { WaitingAppends, type RunAppends } from './waiting-appends.js';

/** What was written of a batch, by who appended it. */
type Written = ReadonlyMap<RunAppends, StampedEvents>;

/**
 * Group commit: the appends of all runs of the process wait for the next flush and become one transaction. It
 * flushes on `setImmediate` when idle, else when the commit in flight ends.
 */
@Injectable()
export class GroupCommitter {
  private readonly waiting: WaitingAppends;
  private isScheduled = false;
  private inFlight: Promise<void> | undefined;
  private inFlightRuns: ReadonlySet<string> = new Set();

  constructor(
    protected readonly database: Database,
    private readonly hints: RunHints,
    private readonly metrics: Metrics,
    config: Config,
  ) {
    this.waiting = new WaitingAppends(config.events);
  }

  append(lease: Lease, event: HarnessEvent): Promise<void> {
    const appended = this.waiting.add(lease, event);
    this.schedule();
    return appended;
  }

  /** Resolves when what waits for the run now is committed or refused. */
  async settled(runId: string): Promise<void> {
    while (this.waiting.has(runId) || this.inFlightRuns.has(runId)) {
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
        this.inFlightRuns = new Set();
        if (!this.waiting.isEmpty) this.schedule();
      });
    });
  }

  private async flush(): Promise<void> {
    const batch = this.waiting.take();
    this.inFlightRuns = new Set(batch.map((run) => run.lease.runId));
    try {
      await this.commit(batch);
    } catch (error) {
      if (batch.length > 1 && isRefused(error)) await this.commitEach(batch);
      else for (const run of batch) this.refuse(run, error);
    }
  }

  /** A row that the database refuses must not take the other runs of its batch along. */
  private async commitEach(batch: readonly RunAppends[]): Promise<void> {
    await Promise.all(batch.map((run) => this.commit([run]).catch((error: unknown) => this.refuse(run, error))));
  }

  private refuse(run: RunAppends, error: unknown): void {
    run.reject(error);
    this.waiting.refuse(run.lease, error);
  }

  private async commit(batch: readonly RunAppends[]): Promise<void> {
    const startedAt = performance.now();
    await this.commitThenPublish(batch);
    const rows = batch.reduce((sum, run) => sum + run.events.length, 0);
    this.metrics.committed(rows, performance.now() - startedAt);
  }

  /** Durable before visible: observers hear of a row only after its commit. */
  protected async commitThenPublish(batch: readonly RunAppends[]): Promise<void> {
    const written = await this.database.inTransaction((manager) => this.write(manager, batch), 'batch');
    for (const { owner, events } of written.values()) this.publish(owner.id, events);
    this.settle(batch, written);
  }

  protected settle(batch: readonly RunAppends[], written: Written): void {
    for (const run of batch) {
      if (written.has(run)) {
        run.resolve();
      } else {
        this.metrics.fenced();
        run.reject(new FencedError(run.lease.runId));
      }
    }
  }

  protected publish(runId: string, events: readonly LoggedEvent[]): void {
    this.hints.committed(runId, events);
  }

  /** Locks the runs in id order, drops those whose lease is void, writes the rest. */
  protected async write(manager: EntityManager, batch: readonly RunAppends[]): Promise<Written> {
    const runs = await lockHeads(
      this.database,
      manager,
      batch.map((run) => run.lease.runId),
    );
    const written = new Map<RunAppends, StampedEvents>();
    for (const appends of batch) {
      const run = runs.get(appends.lease.runId);
      if (run === undefined || this.isFenced(run, appends.lease)) continue;
      written.set(appends, { owner: run, events: stamp(run, appends.events) });
    }
    const stamped = [...written.values()];
    if (stamped.length === 0) return written;
    await insertEvents(manager, stamped);
    await this.raiseSequences(manager, stamped);
    await this.keepFacts(manager, runs, stamped);
    return written;
  }

  protected isFenced(run: RunHead, lease: Lease): boolean {
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
    runs: ReadonlyMap<string, RunHead>,
    batch: readonly StampedEvents[],
  ): Promise<void> {
    for (const { owner, events } of batch) {
      const run = runs.get(owner.id)!;
      if (events.some(reportsUsage)) {
        const usage = events.reduce(usageAfter, fromJson<Usage>(run.usageColumn));
        await updateRun(manager, run.id, { token_usage: toJson(usage) });
      }
      const hasProgressed = events.some((event) => event.type === 'reason_end' || event.type === 'tool_call_end');
      if (hasProgressed && run.takeovers > 0) await updateRun(manager, run.id, { takeovers: 0 });
    }
  }
}
