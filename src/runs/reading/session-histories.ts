import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Database } from '../../database/database.js';
import type { LoggedEvent } from '../../events/projection.js';
import { EVENT_COLUMNS, eventOf, type EventRow } from '../log/event-rows.js';
import { UNENDED } from '../log/run-sql.js';

/** How much of histories a process keeps, characters of their rows. */
const MOST_KEPT = 32 * 1024 * 1024;

/** A session that is deleted, here or by another process, is forgotten after this time. */
const KEPT_MS = 5 * 60_000;

interface HistoryRow extends EventRow {
  readonly run_ord: number;
}

interface Kept {
  /** The newest run whose rows are in it. */
  readonly upTo: number;
  readonly events: readonly LoggedEvent[];
  readonly size: number;
}

const NOTHING: Kept = { upTo: 0, events: [], size: 0 };

/**
 * The history rows of sessions, from which conversations are rebuilt. Those of ended runs never change, so they are
 * kept for the sessions used last, and a long conversation is not read again at every turn.
 */
@Injectable()
export class SessionHistories {
  private readonly kept = new LRUCache<string, Kept>({
    maxSize: MOST_KEPT,
    sizeCalculation: ({ size }) => Math.max(1, size),
    ttl: KEPT_MS,
  });

  constructor(private readonly database: Database) {}

  /** The history rows of the session up to and including the run with this number. */
  async upTo(sessionId: string, ord: number): Promise<readonly LoggedEvent[]> {
    const kept = this.keptBefore(sessionId, ord);
    // first, because a run that ends in between must not be taken for one that had ended
    const oldestOpen = await this.oldestOpen(sessionId, ord);
    const rows = await this.database.query<HistoryRow>(
      `SELECT ${EVENT_COLUMNS}, run_ord FROM run_events
       WHERE session_id = ? AND is_history = 1 AND run_ord > ? AND run_ord <= ? ORDER BY run_ord, seq`,
      [sessionId, kept.upTo, ord],
    );
    const events = rows.map(eventOf);
    const ended = rows.filter((row) => row.run_ord < oldestOpen);
    if (ended.length > 0) {
      this.kept.set(sessionId, {
        upTo: oldestOpen - 1,
        events: [...kept.events, ...events.slice(0, ended.length)],
        size: ended.reduce((size, row) => size + sizeOf(row), kept.size),
      });
    }
    return [...kept.events, ...events];
  }

  /** A run of lower number may still wait behind one that overtook it: what is kept must not hold later ones. */
  private keptBefore(sessionId: string, ord: number): Kept {
    const kept = this.kept.get(sessionId);
    return kept !== undefined && kept.upTo < ord ? kept : NOTHING;
  }

  private async oldestOpen(sessionId: string, ord: number): Promise<number> {
    const rows = await this.database.query<{ ord: number | null }>(
      `SELECT MIN(ord) AS ord FROM runs WHERE session_id = ? AND ${UNENDED}`,
      [sessionId],
    );
    return Math.min(ord, Number(rows[0]?.ord ?? ord));
  }
}

const sizeOf = ({ data }: EventRow): number => 512 + (typeof data === 'string' ? data : JSON.stringify(data)).length;
