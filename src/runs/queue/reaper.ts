import { Injectable } from '@nestjs/common';
import { isStoreUnavailable } from '../../common/app-error.js';
import { Clock } from '../../common/clock.js';
import { Config } from '../../config/config.js';
import { Database } from '../../database/database.js';
import { closingEvents } from '../../events/open-work.js';
import { Logger } from '../../observability/logger.js';
import { HeldRuns } from '../execution/held-runs.js';
import { FailureLog } from '../failure-log.js';
import { RunDispatcher } from '../ports/run-dispatcher.port.js';
import { RunHints } from '../ports/run-hints.port.js';
import { lifecycleEvent } from '../log/lifecycle-events.js';
import { readOpenWork } from '../log/open-work.js';
import { lockRunAndSession, writeLifecycle } from '../log/run-rows.js';
import { Rounds } from '../rounds.js';
import { Takeover } from './takeover.js';

/**
 * Finds runs that nobody works on any more: their lease has expired, a cancel was not obeyed, or they have lived too
 * long. What this process executes itself is alive, whatever its lease says.
 */
@Injectable()
export class Reaper {
  private readonly rounds: Rounds;
  private wasAway = false;
  private patientUntil = 0;

  constructor(
    private readonly database: Database,
    private readonly held: HeldRuns,
    private readonly takeover: Takeover,
    private readonly hints: RunHints,
    private readonly dispatcher: RunDispatcher,
    private readonly clock: Clock,
    private readonly config: Config,
    private readonly logger: Logger,
  ) {
    const failures = new FailureLog(logger, 'the reaper could not finish its round');
    this.rounds = new Rounds(() => this.search(), failures, { everyMs: config.runs.reaperMs });
  }

  /** On SQLite nobody else can hold a lease: every leased run is taken over at once. */
  async start(): Promise<void> {
    if (this.database.kind === 'sqlite') await this.reapLeases(undefined);
    this.rounds.start();
  }

  stop(): void {
    this.rounds.stop();
  }

  /** One search; never rejects. */
  round(): Promise<void> {
    return this.rounds.now();
  }

  private async search(): Promise<void> {
    const now = await this.databaseTime();
    if (now >= this.patientUntil) await this.reapLeases(now);
    await this.endCancelled(now - this.config.runs.cancelGraceMs);
    await this.expireOld(now - this.config.runs.ttlMs);
  }

  /** While the database was away nobody could renew: whoever lives may do so before leases are judged again. */
  private async databaseTime(): Promise<number> {
    try {
      const now = await this.database.inTransaction((manager) => this.database.nowMs(manager));
      if (this.wasAway) this.patientUntil = now + this.config.runs.heartbeatMs;
      this.wasAway = false;
      return now;
    } catch (error) {
      this.wasAway = true;
      throw error;
    }
  }

  /** A row that is locked is being written: whoever does so lives, and is not waited for. */
  private async reapLeases(expiredAt: number | undefined): Promise<void> {
    const ended = expiredAt === undefined ? 'IS NOT NULL' : '< ?';
    const rows = await this.database.query<{ id: string }>(
      `SELECT id FROM runs WHERE status IN ('running', 'cancelling') AND lease_until ${ended}${this.database.skipLocked}`,
      expiredAt === undefined ? [] : [expiredAt],
    );
    const lost = rows.filter(({ id }) => !this.held.has(id));
    for (const { id } of lost) await this.alone(id, () => this.reap(id, expiredAt));
    if (lost.length > 0) this.dispatcher.announce();
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
      if (isStoreUnavailable(error)) throw error;
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
      const closing = closingEvents(await readOpenWork(manager, run), 'expired', this.clock.nowMs());
      return writeLifecycle(manager, run, [...closing, expired], { epoch: run.epoch + 1 });
    });
    this.hints.committed(runId, events);
  }
}
