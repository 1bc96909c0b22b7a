import type { EntityManager } from 'typeorm';
import type { Database } from '../../database/database.js';
import { toJson } from '../../database/columns.js';
import type { HarnessEvent } from '../../events/harness-event.js';
import { isTerminal } from '../../events/harness-event.js';
import type { LoggedEvent } from '../../events/projection.js';
import type { RunState, RunStatus } from '../../events/run-state.js';
import { columnsFor, runOf, type Run } from '../run.js';
import { insertEvents, stamp, type RowOwner } from './event-rows.js';
import { UNENDED } from './run-sql.js';

/** Values for columns of `runs`, by column name. */
export type RunChanges = Readonly<Record<string, unknown>>;

/** What a batch needs of a run's row: read at each commit, so no more than that. */
export interface RunHead extends RunState, RowOwner {
  readonly epoch: number;
  readonly takeovers: number;
  readonly lastSeq: number;
  /** `token_usage` as stored; parsed only when it changes. */
  readonly usageColumn: unknown;
}

/** The heads of runs, locked in id order, so that two batches never wait for each other in a circle. */
export async function lockHeads(
  database: Database,
  manager: EntityManager,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, RunHead>> {
  const rows = await manager.query<Record<string, unknown>[]>(
    `SELECT id, tenant_id, session_id, ord, status, code, stage, epoch, takeovers, last_seq, token_usage FROM runs
     WHERE id IN (${runIds.map(() => '?').join(', ')}) ORDER BY id${database.forUpdate}`,
    [...runIds],
  );
  return new Map(rows.map((row) => [row['id'] as string, headOf(row)]));
}

function headOf(row: Record<string, unknown>): RunHead {
  return {
    id: row['id'] as string,
    tenantId: row['tenant_id'] as string,
    sessionId: row['session_id'] as string,
    ord: Number(row['ord']),
    status: row['status'] as RunStatus,
    code: row['code'] as string,
    stage: row['stage'] as string,
    epoch: Number(row['epoch']),
    takeovers: Number(row['takeovers']),
    lastSeq: Number(row['last_seq']),
    usageColumn: row['token_usage'],
  };
}

export async function lockRun(database: Database, manager: EntityManager, runId: string): Promise<Run | undefined> {
  const rows = await manager.query<Record<string, unknown>[]>(`SELECT * FROM runs WHERE id = ?${database.forUpdate}`, [
    runId,
  ]);
  return rows[0] && runOf(rows[0]);
}

/**
 * Locks a run that may end, after its session: commands lock in this order too, so that neither waits for the other
 * in a circle.
 */
export async function lockRunAndSession(
  database: Database,
  manager: EntityManager,
  runId: string,
): Promise<Run | undefined> {
  if (database.kind === 'mysql') {
    const session = 'SELECT id FROM sessions WHERE id = (SELECT session_id FROM runs WHERE id = ?) FOR UPDATE';
    await manager.query(session, [runId]);
  }
  return lockRun(database, manager, runId);
}

export async function updateRun(manager: EntityManager, runId: string, changes: RunChanges): Promise<void> {
  const names = Object.keys(changes);
  const assignments = names.map((name) => `${name} = ?`).join(', ');
  await manager.query(`UPDATE runs SET ${assignments} WHERE id = ?`, [...Object.values(changes), runId]);
}

/**
 * Appends life-cycle events to a locked run and brings its row up to date: the one way a run's status changes.
 * @param changes further columns, e.g. the lease
 * @returns the events as committed (once the transaction is)
 */
export async function writeLifecycle(
  manager: EntityManager,
  run: Run,
  events: readonly HarnessEvent[],
  changes: RunChanges = {},
): Promise<LoggedEvent[]> {
  const stamped = stamp(run, events);
  const last = stamped.at(-1);
  if (last === undefined) return [];
  await insertEvents(manager, [{ owner: run, events: stamped }]);
  const { status, activeSessionId, queueState } = columnsFor(run, last);
  await updateRun(manager, run.id, {
    last_seq: last.seq,
    status,
    code: last.code,
    stage: last.stage,
    active_session_id: activeSessionId,
    queue_state: queueState,
    ...(isTerminal(last) ? endColumns(last) : {}),
    ...changes,
  });
  if (isTerminal(last)) {
    await manager.query('UPDATE sessions SET updated_at = ? WHERE id = ?', [last.at, run.sessionId]);
    await promoteNext(manager, run);
  }
  return stamped;
}

function endColumns(end: LoggedEvent): RunChanges {
  return {
    terminal_seq: end.seq,
    ended_at: end.at,
    lease_owner: null,
    lease_until: null,
    cancel_requested_at: null,
    ...('result' in end ? { result: toJson(end.result) } : {}),
    ...('error' in end ? { error: toJson(end.error) } : {}),
    ...('usage' in end ? { token_usage: toJson(end.usage) } : {}),
  };
}

/** Head of line: the oldest waiting run of the session may be claimed now, unless another one still has the session. */
async function promoteNext(manager: EntityManager, ended: Run): Promise<void> {
  const rows = await manager.query<{ id: string; active_session_id: string | null }[]>(
    `SELECT id, active_session_id FROM runs WHERE session_id = ? AND ${UNENDED} AND id <> ?
     ORDER BY CASE WHEN active_session_id IS NULL THEN 1 ELSE 0 END, priority, ord LIMIT 1`,
    [ended.sessionId, ended.id],
  );
  const next = rows[0];
  if (next?.active_session_id === null) await updateRun(manager, next.id, { queue_state: 'ready' });
}
