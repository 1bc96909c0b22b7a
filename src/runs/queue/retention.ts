import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../common/clock.js';
import { Config } from '../../config/config.js';
import { Database } from '../../database/database.js';
import { Logger } from '../../observability/logger.js';
import { FailureLog } from '../failure-log.js';
import { updateRun } from '../log/run-rows.js';
import { Rounds } from '../rounds.js';
import type { EventsKept } from '../run.js';

const ROUND_MS = 10 * 60_000;
const DAY_MS = 24 * 60 * 60_000;
const RUNS_AT_ONCE = 200;
const ROWS_AT_ONCE = 1000;

interface Rule {
  readonly from: EventsKept;
  readonly to: EventsKept;
  readonly afterDays: number;
  /** Which rows of a run go. */
  readonly rows: (terminalSeq: number) => string;
}

/**
 * Makes old logs small: deltas go `events.deltaDays` after a run's end, everything but the terminal event
 * `events.retentionDays` after it. Result, usage and audit stay with the session.
 */
@Injectable()
export class Retention {
  private readonly rounds: Rounds;
  private readonly rules: readonly Rule[];

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    logger: Logger,
    config: Config,
  ) {
    const failures = new FailureLog(logger, 'old logs could not be made smaller');
    this.rounds = new Rounds(() => this.applyAll(), failures, { everyMs: ROUND_MS });
    const { deltaDays, retentionDays } = config.events;
    this.rules = [
      { from: 'all', to: 'whole_messages', afterDays: deltaDays, rows: () => "type = 'reason_delta'" },
      {
        from: 'whole_messages',
        to: 'terminal',
        afterDays: retentionDays,
        rows: (terminalSeq) => `seq < ${terminalSeq}`,
      },
    ];
  }

  start(): void {
    this.rounds.start();
  }

  stop(): void {
    this.rounds.stop();
  }

  /** One round over every rule, until nothing is left to do; never rejects. */
  round(): Promise<void> {
    return this.rounds.now();
  }

  private async applyAll(): Promise<void> {
    for (const rule of this.rules) await this.apply(rule);
  }

  private async apply(rule: Rule): Promise<void> {
    for (;;) {
      const runs = await this.database.query<{ id: string; last_seq: number; terminal_seq: number }>(
        'SELECT id, last_seq, terminal_seq FROM runs WHERE events_kept = ? AND ended_at < ? ORDER BY ended_at LIMIT ?',
        [rule.from, this.clock.nowMs() - rule.afterDays * DAY_MS, RUNS_AT_ONCE],
      );
      for (const run of runs) {
        // first said, then done: no reader finds a hole that nobody told of
        await this.write((manager) => updateRun(manager, run.id, { events_kept: rule.to }));
        await this.clear(run.id, Number(run.last_seq), rule.rows(Number(run.terminal_seq)));
      }
      if (runs.length < RUNS_AT_ONCE) return;
    }
  }

  /** Small batches: nobody waits long for the one writer. */
  private async clear(runId: string, lastSeq: number, rows: string): Promise<void> {
    for (let seq = 0; seq < lastSeq; seq += ROWS_AT_ONCE) {
      const bounds = [runId, seq, seq + ROWS_AT_ONCE];
      await this.write((manager) =>
        manager.query(`DELETE FROM run_events WHERE run_id = ? AND seq > ? AND seq <= ? AND ${rows}`, bounds),
      );
    }
  }

  private async write(work: (manager: EntityManager) => Promise<unknown>): Promise<void> {
    await this.database.inTransaction(work, 'batch');
  }
}
