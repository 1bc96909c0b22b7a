import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { Database } from '../../database/database.js';
import { Logger } from '../../observability/logger.js';
import { HeldRuns, type HeldRun } from './held-runs.js';

const RENEWED_AT_ONCE = 500;
/** As many parameters as SQLite takes in one statement, nearly: no process holds so many runs. */
const ASKED_AT_ONCE = 32_000;

/**
 * Renews the leases of the runs that this process executes, and asks once a second, in one query, for signals
 * that no hint brought: a cancel, or a lease that somebody else took.
 */
@Injectable()
export class LeaseKeeper {
  private timers: NodeJS.Timeout[] = [];

  constructor(
    private readonly database: Database,
    private readonly held: HeldRuns,
    private readonly config: Config,
    private readonly logger: Logger,
  ) {}

  start(): void {
    const { heartbeatMs, flagPollMs } = this.config.runs;
    this.timers = [this.every(heartbeatMs, () => this.renew()), this.every(flagPollMs, () => this.readFlags())];
  }

  stop(): void {
    for (const timer of this.timers) clearInterval(timer);
  }

  private every(ms: number, work: () => Promise<void>): NodeJS.Timeout {
    let isBusy = false;
    return setInterval(() => {
      if (isBusy || this.held.size === 0) return;
      isBusy = true;
      work()
        .catch((error: unknown) => this.logger.warn('lease keeper could not reach the database', { error }))
        .finally(() => {
          isBusy = false;
        });
    }, ms);
  }

  /** Prolongs every lease that this process holds. */
  async renew(): Promise<void> {
    for (const chunk of chunksOf(this.held.all(), RENEWED_AT_ONCE)) {
      await this.database.inTransaction(async (manager) => {
        const now = await this.database.nowMs(manager);
        const pairs = chunk.map(() => '(id = ? AND epoch = ?)').join(' OR ');
        await manager.query(`UPDATE runs SET lease_until = ? WHERE lease_owner IS NOT NULL AND (${pairs})`, [
          now + this.config.runs.leaseMs,
          ...chunk.flatMap(({ lease }) => [lease.runId, lease.epoch]),
        ]);
      });
    }
  }

  /** Looks once for signals: one query, however many runs are held. */
  async readFlags(): Promise<void> {
    for (const chunk of chunksOf(this.held.all(), ASKED_AT_ONCE)) {
      const rows = await this.database.query<{ id: string; epoch: number; cancel_requested_at: number | null }>(
        `SELECT id, epoch, cancel_requested_at FROM runs WHERE id IN (${chunk.map(() => '?').join(', ')})`,
        chunk.map(({ lease }) => lease.runId),
      );
      const flags = new Map(rows.map((row) => [row.id, row]));
      for (const run of chunk) this.obey(run, flags.get(run.lease.runId));
    }
  }

  private obey(run: HeldRun, flags: { epoch: number; cancel_requested_at: number | null } | undefined): void {
    if (flags === undefined || Number(flags.epoch) !== run.lease.epoch) run.stop('fenced');
    else if (flags.cancel_requested_at !== null) run.stop('cancel');
  }
}

function* chunksOf<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
