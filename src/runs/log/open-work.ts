import type { EntityManager } from 'typeorm';
import { openWorkOf, type OpenWork } from '../../events/open-work.js';
import type { Run } from '../run.js';
import { EVENT_COLUMNS, eventOf, type EventRow } from './event-rows.js';

/** What a locked run has open. */
export interface OpenWorkOfRun extends OpenWork {
  /** Position of the `reason_start` of the run's own model call, when that one is open. */
  readonly reasonSeq: number | undefined;
}

const PAGE = 100;

/** Reads what is open in a locked run: nothing is, when a model call of its own begins. */
export async function readOpenWork(manager: EntityManager, run: Run): Promise<OpenWorkOfRun> {
  const since = await newestReason(manager, run);
  if (since === undefined) return { reasons: [], calls: [], reasonSeq: undefined };
  const rows = await manager.query<EventRow[]>(
    `SELECT ${EVENT_COLUMNS} FROM run_events WHERE run_id = ? AND seq >= ? ORDER BY seq`,
    [run.id, since],
  );
  const open = openWorkOf(rows.map(eventOf));
  const isOwnOpen = open.reasons.some(({ parent }) => parent === undefined);
  return { ...open, reasonSeq: isOwnOpen ? since : undefined };
}

/** Where the newest model call of the run itself begins; those of its sub-agents may be many. */
async function newestReason(manager: EntityManager, run: Run): Promise<number | undefined> {
  for (let before = run.lastSeq + 1; ;) {
    const rows = await manager.query<EventRow[]>(
      `SELECT ${EVENT_COLUMNS} FROM run_events WHERE run_id = ? AND type = 'reason_start' AND seq < ?
       ORDER BY seq DESC LIMIT ${PAGE}`,
      [run.id, before],
    );
    const starts = rows.map(eventOf);
    const own = starts.find(({ parent }) => parent === undefined);
    if (own !== undefined) return own.seq;
    if (starts.length < PAGE) return undefined;
    before = starts.at(-1)!.seq;
  }
}
