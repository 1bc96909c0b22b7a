import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { Config } from '../../config/config.js';
import { Database } from '../../database/database.js';
import { Logger } from '../../observability/logger.js';
import { RunDispatcher } from '../ports/run-dispatcher.port.js';
import { RunHints } from '../ports/run-hints.port.js';
import { lifecycleEvent } from '../log/lifecycle-events.js';
import { lockRunAndSession, writeLifecycle } from '../log/run-rows.js';
import { Takeover } from './takeover.js';

/** Finds runs that nobody works on any more: their lease has expired, a cancel was not obeyed, or they have lived too long. */
@Injectable()
export class Reaper {
  private timer: NodeJS.Timeout | undefined;
  private isBusy = false;

  constructor(
    private readonly database: Database,
    private readonly takeover: Takeover,
    private readonly hints: RunHints,
    private readonly dispatcher: RunDispatcher,
    private readonly clock: Clock,
    private readonly config: Config,
    private readonly logger: Logger,
  ) {}

  /** On SQLite nobody else can hold a lease: every leased run is taken over at once. */
  async start(): Promise<void> {
    if (this.database.kind === 'sqlite') await this.reapLeases(undefined);
    this.timer = setInterval(() => void this.round(), this.config.runs.reaperMs);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** One search; never rejects. */
  async round(): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      const now = await this.database.inTransaction((manager) => this.database.nowMs(manager));
      await this.reapLeases(now);
      await this.endCancelled(now - this.config.runs.cancelGraceMs);
      await this.expireOld(now - this.config.runs.ttlMs);
    } catch (error) {
      this.logger.warn('reaper could not finish its round', { error });
    } finally {
      this.isBusy = false;
    }
  }

  private async reapLeases(expiredAt: number | undefined): Promise<void> {
    const rows = await this.database.query<{ id: string }>(
      `SELECT id FROM runs WHERE status IN ('running', 'cancelling') AND lease_until ${expiredAt === undefined ? 'IS NOT NULL' : '< ?'}`,
      expiredAt === undefined ? [] : [expiredAt],
    );
    for (const { id } of rows) await this.alone(id, () => this.reap(id, expiredAt));
    if (rows.length > 0) this.dispatcher.announce();
  }

  /** A cancelled run whose executor does not stop by itself is ended without it. */
  private async endCancelled(askedBefore: number): Promise<void> {
    const rows = await this.database.query<{ id: string }>(
      "SELECT id FROM runs WHERE status = 'cancelling' AND cancel_requested_at < ?",
      [askedBefore],
    );
    for (const { id } of rows) await this.alone(id, () => this.reap(id, undefined));
    if (rows.length > 0) this.dispatcher.announce();
  }

  private async reap(runId: string, expiredAt: number | undefined): Promise<void> {
    const events = await this.takeover.takeOver(runId, expiredAt);
    const last = events.at(-1);
    if (last === undefined) return;
    this.logger.warn('run lost its worker', { runId, status: last.status, code: last.code });
    this.hints.committed(runId, events);
  }

  /** A run that cannot be closed must not keep the others waiting. */
  private async alone(runId: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.logger.error('reaper could not close a run', { runId, error });
    }
  }

  private async expireOld(createdBefore: number): Promise<void> {
    const rows = await this.database.query<{ id: string }>(
      "SELECT id FROM runs WHERE status IN ('queued', 'waiting_input') AND created_at < ? LIMIT 100",
      [createdBefore],
    );
    for (const { id } of rows) await this.alone(id, () => this.expire(id));
    if (rows.length > 0) this.dispatcher.announce();
  }

  private async expire(runId: string): Promise<void> {
    const events = await this.database.inTransaction(async (manager) => {
      const run = await lockRunAndSession(this.database, manager, runId);
      if (run === undefined || (run.status !== 'queued' && run.status !== 'waiting_input')) return [];
      const message = `the run did not end within ${this.config.runs.ttlMs} ms`;
      const expired = lifecycleEvent(run, this.clock, 'run_expired', {
        error: { code: 'RUN_TTL_EXCEEDED', message, retryable: false, stage: run.stage },
        artifacts: [],
        usage: run.usage,
      });
      return writeLifecycle(manager, run, [expired], { epoch: run.epoch + 1 });
    });
    this.hints.committed(runId, events);
  }
}
