import type { EntityManager } from 'typeorm';
import { fromJson, toJson } from '../../database/columns.js';
import type { HarnessEvent } from '../../events/harness-event.js';
import type { LoggedEvent } from '../../events/projection.js';
import { isLegalTransition, stageOf, type RunState } from '../../events/run-state.js';
import type { Run } from '../run.js';

/** What an event row needs to know of its run. */
export type RowOwner = Pick<Run, 'id' | 'tenantId' | 'sessionId' | 'ord'>;

export interface StampedEvents {
  readonly owner: RowOwner;
  readonly events: readonly LoggedEvent[];
}

/** SQLite takes 32,766 placeholders a statement, MySQL 65,535; a row has 12. */
const ROWS_PER_STATEMENT = 500;
const COLUMNS = 'run_id, seq, tenant_id, session_id, run_ord, type, status, code, stage, at, is_history, data';
const ROW = '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';

/**
 * Gives events their numbers and the state they leave the run in: seq goes on from the locked row.
 * @throws Error for a transition that the life cycle forbids: a run's terminal event is its last
 */
export function stamp(
  run: RunState & { readonly lastSeq: number; readonly id: string },
  events: readonly HarnessEvent[],
): LoggedEvent[] {
  let state: RunState = { status: run.status, code: run.code, stage: run.stage };
  return events.map((event, index) => {
    const next = stageOf(event, state);
    if (!isLegalTransition(state.status, next.status)) {
      throw new Error(`run ${run.id} is ${state.status}: ${event.type} cannot follow`);
    }
    state = next;
    return { ...event, seq: run.lastSeq + index + 1, ...next } as LoggedEvent;
  });
}

/** True for the rows that a conversation is rebuilt from: what a sub-agent says is no part of its caller's. */
export function isHistory(event: HarnessEvent): boolean {
  if (event.parent !== undefined) return false;
  switch (event.type) {
    case 'run_queued':
      return event.input !== null;
    case 'steer_applied':
    case 'tool_call_end':
    case 'imported':
      return true;
    case 'reason_end':
      return event.interrupted !== 'recovered';
    case 'progress':
      return event.attached !== undefined;
    case 'context_size':
      return event.summary !== undefined;
    default:
      return false;
  }
}

/** Inserts stamped events of any number of runs: one multi-row statement for each 500 rows. */
export async function insertEvents(manager: EntityManager, batch: readonly StampedEvents[]): Promise<void> {
  const rows = batch.flatMap(({ owner, events }) => events.map((event) => rowOf(owner, event)));
  for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT) {
    const chunk = rows.slice(start, start + ROWS_PER_STATEMENT);
    const values = chunk.map(() => ROW).join(', ');
    await manager.query(`INSERT INTO run_events (${COLUMNS}) VALUES ${values}`, chunk.flat());
  }
}

function rowOf(owner: RowOwner, event: LoggedEvent): unknown[] {
  const { seq, type, at, status, code, stage, runId, sessionId: _sessionId, ...own } = event;
  const data = runId === owner.id ? own : { ...own, runId };
  return [
    owner.id,
    seq,
    owner.tenantId,
    owner.sessionId,
    owner.ord,
    type,
    status,
    code,
    stage,
    at,
    isHistory(event) ? 1 : 0,
    toJson(data),
  ];
}

export interface EventRow {
  readonly run_id: string;
  readonly session_id: string;
  readonly seq: number;
  readonly type: string;
  readonly status: string;
  readonly code: string;
  readonly stage: string;
  readonly at: number | string;
  readonly data: unknown;
}

export const EVENT_COLUMNS = 'run_id, session_id, seq, type, status, code, stage, at, data';

/** Reads a row of `run_events` back into the event. */
export function eventOf(row: EventRow): LoggedEvent {
  return {
    runId: row.run_id,
    sessionId: row.session_id,
    ...fromJson<object>(row.data),
    type: row.type,
    at: Number(row.at),
    seq: Number(row.seq),
    status: row.status,
    code: row.code,
    stage: row.stage,
  } as LoggedEvent;
}
