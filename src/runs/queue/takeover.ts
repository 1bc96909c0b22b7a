import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../common/clock.js';
import { Config } from '../../config/config.js';
import { Database } from '../../database/database.js';
import type { HarnessEvent } from '../../events/harness-event.js';
import { closingEvents, type Interruption } from '../../events/open-work.js';
import type { LoggedEvent } from '../../events/projection.js';
import { readOpenWork, type OpenWorkOfRun } from '../log/open-work.js';
import { cancelledEvent } from '../log/cancelled-event.js';
import { lifecycleEvent } from '../log/lifecycle-events.js';
import { lockRunAndSession, writeLifecycle, type RunChanges } from '../log/run-rows.js';
import type { Run } from '../run.js';

/** Gives the lease back: whoever claims next gets a higher epoch, and the old holder's writes are refused. */
const RELEASED: RunChanges = { lease_owner: null, lease_until: null };

/** Puts runs whose worker is gone, or lets go, back into the queue: their log is closed first. */
@Injectable()
export class Takeover {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly config: Config,
  ) {}

  /**
   * Takes a run from a worker that is lost: a cancelling one ends, one that was lost too often without progress
   * fails with `WORKER_LOST`, any other is queued again.
   * @param expiredAt only if its lease ended before this time; undefined = whatever its lease says
   * @returns the events written, empty when the run has moved on meanwhile
   */
  takeOver(runId: string, expiredAt: number | undefined): Promise<LoggedEvent[]> {
    return this.database.inTransaction(async (manager) => {
      const run = await lockRunAndSession(this.database, manager, runId);
      if (run === undefined || !(await this.isLost(manager, run, expiredAt))) return [];
      const takeovers = run.takeovers + 1;
      if (run.status === 'cancelling') return this.end(manager, run, await cancelledEvent(manager, run, this.clock));
      if (takeovers >= this.config.runs.maxAttempts) return this.end(manager, run, this.workerLost(run, takeovers));
      return this.requeue(manager, run, { attempt: run.attempt + 1, takeovers });
    });
  }

  /** Queues a run again whose executor stops at a safe point: no attempt is lost. */
  async handBack(manager: EntityManager, run: Run, changes: RunChanges): Promise<LoggedEvent[]> {
    return this.requeue(manager, run, { attempt: run.attempt, takeovers: run.takeovers }, changes);
  }

  private async requeue(
    manager: EntityManager,
    run: Run,
    counts: { attempt: number; takeovers: number },
    changes: RunChanges = {},
  ): Promise<LoggedEvent[]> {
    const open = await readOpenWork(manager, run);
    const closing = closingEvents(open, 'recovered', this.clock.nowMs());
    const recovered = lifecycleEvent(run, this.clock, 'recovered', {
      attempt: counts.attempt,
      discardAfter: discardAfter(run, open, closing.length),
    });
    return writeLifecycle(manager, run, [...closing, recovered], {
      ...RELEASED,
      ...changes,
      ...counts,
      epoch: run.epoch + 1,
      available_at: await this.database.nowMs(manager),
    });
  }

  private async end(manager: EntityManager, run: Run, terminal: HarnessEvent): Promise<LoggedEvent[]> {
    const how: Interruption = terminal.type === 'run_cancelled' ? 'cancelled' : 'lost';
    const closing = closingEvents(await readOpenWork(manager, run), how, this.clock.nowMs());
    return writeLifecycle(manager, run, [...closing, terminal], { ...RELEASED, epoch: run.epoch + 1 });
  }

  private async isLost(manager: EntityManager, run: Run, expiredAt: number | undefined): Promise<boolean> {
    if (run.status !== 'running' && run.status !== 'cancelling') return false;
    if (expiredAt === undefined) return true;
    const rows = await manager.query<{ lease_until: number | null }[]>('SELECT lease_until FROM runs WHERE id = ?', [
      run.id,
    ]);
    return Number(rows[0]?.lease_until ?? 0) < expiredAt;
  }

  private workerLost(run: Run, losses: number): HarnessEvent {
    const message = `the run lost its worker ${losses} times in a row without progress`;
    return lifecycleEvent(run, this.clock, 'run_failed', {
      error: { code: 'WORKER_LOST', message, retryable: true, stage: run.stage },
      artifacts: [],
      usage: run.usage,
    });
  }
}

/** The last id before the broken step: partial text after it is void. */
function discardAfter(run: Run, { reasonSeq }: OpenWorkOfRun, closingCount: number): number {
  return reasonSeq === undefined ? run.lastSeq + closingCount : reasonSeq - 1;
}
