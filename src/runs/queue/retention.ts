import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { Config } from '../../config/config.js';
import { Database } from '../../database/database.js';
import { Logger } from '../../observability/logger.js';
import { updateRun } from '../log/run-rows.js';
import type { EventsKept } from '../run.js';

const ROUND_MS = 10 * 60_000;
const DAY_MS = 24 * 60 * 60_000;
const RUNS_AT_ONCE = 200;

interface Rule {
  readonly from: EventsKept;
  readonly to: EventsKept;
  readonly afterDays: number;
  /** Which rows of a run go. */
  readonly rows: string;
}

/**
 * Makes old logs small: deltas go `events.deltaDays` after a run's end, everything but the terminal event
 * `events.retentionDays` after it. Result, usage and audit stay with the session.
 */
@Injectable()
export class Retention {
  private timer: NodeJS.Timeout | undefined;
  private readonly rules: readonly Rule[];

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly logger: Logger,
    config: Config,
  ) {
    const { deltaDays, retentionDays } = config.events;
    this.rules = [
      { from: 'all', to: 'whole_messages', afterDays: deltaDays, rows: "type = 'reason_delta'" },
      { from: 'whole_messages', to: 'terminal', afterDays: retentionDays, rows: 'seq < ?' },
    ];
  }

  start(): void {
    this.timer = setInterval(() => void this.round(), ROUND_MS);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** One round over every rule; what does not fit into it waits for the next. */
  async round(): Promise<void> {
    try {
      for (const rule of this.rules) await this.apply(rule);
    } catch (error) {
      this.logger.warn('old logs could not be made smaller', { error });
    }
  }

  private async apply(rule: Rule): Promise<void> {
    const runs = await this.database.query<{ id: string; terminal_seq: number }>(
      'SELECT id, terminal_seq FROM runs WHERE events_kept = ? AND ended_at < ? ORDER BY ended_at LIMIT ?',
      [rule.from, this.clock.nowMs() - rule.afterDays * DAY_MS, RUNS_AT_ONCE],
    );
    for (const run of runs) {
      await this.database.inTransaction(async (manager) => {
        const bound = rule.rows.includes('?') ? [run.terminal_seq] : [];
        await manager.query(`DELETE FROM run_events WHERE run_id = ? AND ${rule.rows}`, [run.id, ...bound]);
        await updateRun(manager, run.id, { events_kept: rule.to });
      }, 'batch');
    }
  }
}
