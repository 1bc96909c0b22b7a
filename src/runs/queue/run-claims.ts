import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../common/clock.js';
import { Ids } from '../../common/ids.js';
import { Config } from '../../config/config.js';
import { Database } from '../../database/database.js';
import { isDuplicateKey } from '../../database/database-errors.js';
import type { HarnessEvent } from '../../events/harness-event.js';
import { isPicture } from '../../events/parts.js';
import type { LoggedEvent } from '../../events/projection.js';
import { RunHints } from '../ports/run-hints.port.js';
import { EVENT_COLUMNS, eventOf, type EventRow } from '../log/event-rows.js';
import { lifecycleEvent } from '../log/lifecycle-events.js';
import { lockRun, writeLifecycle } from '../log/run-rows.js';
import type { Lease, Run } from '../run.js';

export interface Claim {
  readonly lease: Lease;
  readonly events: readonly LoggedEvent[];
}

/** Takes queued runs for this process: one short transaction each, all work happens outside it. */
@Injectable()
export class RunClaims {
  /** Names this process in `lease_owner`. */
  readonly owner: string;

  constructor(
    private readonly database: Database,
    private readonly hints: RunHints,
    private readonly clock: Clock,
    private readonly config: Config,
    ids: Ids,
  ) {
    this.owner = ids.next();
  }

  /**
   * Takes the oldest ready run and leases it to this process.
   * @returns its lease, or undefined when none is ready
   */
  async claimNext(): Promise<Lease | undefined> {
    for (;;) {
      let runId: string | undefined;
      try {
        const claim = await this.database.inTransaction(async (manager) => {
          const run = await this.oldestReady(manager);
          runId = run?.id;
          return run === undefined ? undefined : this.claim(manager, run, await hasPictures(manager, run.id));
        });
        if (claim !== undefined) this.publish(claim);
        return claim?.lease;
      } catch (error) {
        // its session already has an active run: one row out of line must not hold up every other session
        if (runId === undefined || !isDuplicateKey(error)) throw error;
        await this.sendBack(runId);
      }
    }
  }

  private async oldestReady(manager: EntityManager): Promise<Run | undefined> {
    const now = await this.database.nowMs(manager);
    const rows = await manager.query<{ id: string }[]>(
      `SELECT id FROM runs WHERE queue_state = 'ready' AND available_at <= ? ORDER BY priority, available_at, id LIMIT 1${this.database.skipLocked}`,
      [now],
    );
    return rows[0] === undefined ? undefined : lockRun(this.database, manager, rows[0].id);
  }

  /** The end of the session's active run makes it ready again. */
  private sendBack(runId: string): Promise<void> {
    return this.database.inTransaction(async (manager) => {
      await manager.query("UPDATE runs SET queue_state = 'blocked' WHERE id = ? AND queue_state = 'ready'", [runId]);
    });
  }

  /**
   * Leases a locked run inside the caller's transaction; the caller publishes after its commit.
   * @param before events of the same moment that go ahead of `run_running`
   */
  async claim(
    manager: EntityManager,
    run: Run,
    pictures: boolean,
    before: readonly HarnessEvent[] = [],
  ): Promise<Claim> {
    const now = await this.database.nowMs(manager);
    const epoch = run.epoch + 1;
    const attempt = Math.max(run.attempt, 1);
    const event = lifecycleEvent(run, this.clock, 'run_running', { attempt, hasPictures: pictures });
    const events = await writeLifecycle(manager, run, [...before, event], {
      epoch,
      attempt,
      lease_owner: this.owner,
      lease_until: now + this.config.runs.leaseMs,
      started_at: run.startedAt ?? event.at,
    });
    return { lease: { runId: run.id, epoch }, events };
  }

  publish({ lease, events }: Claim): void {
    this.hints.committed(lease.runId, events);
  }
}

async function hasPictures(manager: EntityManager, runId: string): Promise<boolean> {
  const rows = await manager.query<EventRow[]>(`SELECT ${EVENT_COLUMNS} FROM run_events WHERE run_id = ? AND seq = 1`, [
    runId,
  ]);
  const first = rows[0] === undefined ? undefined : eventOf(rows[0]);
  const parts = first?.type === 'run_queued' ? (first.input?.parts ?? []) : [];
  return parts.some(isPicture);
}
