import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { Database } from '../../database/database.js';
import { Logger } from '../../observability/logger.js';
import { FailureLog } from '../failure-log.js';
import { chunksOf } from '../chunks.js';
import { Rounds } from '../rounds.js';
import { HeldRuns, type HeldRun } from './held-runs.js';

/** As many parameters as SQLite takes in one statement, nearly: no process holds so many runs. */
const AT_ONCE = 32_000;

interface Flags {
  readonly epoch: number;
  readonly cancel_requested_at: number | null;
}

/**
 * Asks once a second, in one query for all runs that this process executes, for signals that no hint brought: a cancel,
 * or a lease that somebody else took.
 */
@Injectable()
export class FlagPoll {
  private readonly rounds: Rounds;

  constructor(
    private readonly database: Database,
    private readonly held: HeldRuns,
    config: Config,
    logger: Logger,
  ) {
    const failures = new FailureLog(logger, 'signals of running runs could not be read');
    this.rounds = new Rounds(() => this.readFlags(), failures, { everyMs: config.runs.flagPollMs });
  }

  start(): void {
    this.rounds.start();
  }

  stop(): void {
    this.rounds.stop();
  }

  /** Looks once for signals: one query, however many runs are held. */
  async readFlags(): Promise<void> {
    for (const chunk of chunksOf(this.held.all(), AT_ONCE)) {
      const rows = await this.database.query<Flags & { id: string }>(
        `SELECT id, epoch, cancel_requested_at FROM runs WHERE id IN (${chunk.map(() => '?').join(', ')})`,
        chunk.map(({ lease }) => lease.runId),
      );
      const flags = new Map(rows.map((row) => [row.id, row]));
      for (const run of chunk) obey(run, flags.get(run.lease.runId));
    }
  }
}

function obey(run: HeldRun, flags: Flags | undefined): void {
  if (flags === undefined || Number(flags.epoch) !== run.lease.epoch) run.stop('fenced');
  else if (flags.cancel_requested_at !== null) run.stop('cancel');
}
