import type { EntityManager } from 'typeorm';
import { AppError } from '../../common/app-error.js';
import { toJson } from '../../database/columns.js';
import type { Database } from '../../database/database.js';
import { INITIAL_STATE } from '../../events/run-state.js';
import { NO_USAGE } from '../../events/values.js';
import { lockSession, readSession, type SessionRow } from '../../sessions/session-rows.js';
import type { Session } from '../../sessions/sessions.types.js';
import { UNENDED } from '../log/run-sql.js';
import { runOf, type QueueState, type Run } from '../run.js';

/**
 * Locks an open session of the tenant: commands on one session go one after another.
 * @throws AppError `SESSION_NOT_FOUND`, `SESSION_CLOSED`
 */
export async function openSession(
  database: Database,
  manager: EntityManager,
  tenantId: string,
  sessionId: string,
): Promise<Session> {
  return open(await lockSession(database, manager, tenantId, sessionId), sessionId);
}

/**
 * The session as it stands, for checks that come before the command's transaction.
 * @throws AppError `SESSION_NOT_FOUND`, `SESSION_CLOSED`
 */
export async function readOpenSession(database: Database, tenantId: string, sessionId: string): Promise<Session> {
  return open(await readSession(database, tenantId, sessionId), sessionId);
}

function open(row: SessionRow | undefined, sessionId: string): Session {
  if (row === undefined) throw AppError.notFound('session', sessionId);
  if (row.status !== 'open') throw new AppError('SESSION_CLOSED', `session ${sessionId} was deleted`);
  return row.session;
}

/** Runs of the session that have not ended, in the order in which they run. */
export async function waitingRuns(manager: EntityManager, sessionId: string): Promise<readonly Run[]> {
  const rows = await manager.query<Record<string, unknown>[]>(
    `SELECT * FROM runs WHERE session_id = ? AND ${UNENDED} ORDER BY CASE WHEN active_session_id IS NULL THEN 1 ELSE 0 END, priority, ord`,
    [sessionId],
  );
  return rows.map(runOf);
}

export async function nextOrd(manager: EntityManager, sessionId: string): Promise<number> {
  const rows = await manager.query<{ ord: number | null }[]>('SELECT MAX(ord) AS ord FROM runs WHERE session_id = ?', [
    sessionId,
  ]);
  return Number(rows[0]?.ord ?? 0) + 1;
}

type NewRun = Pick<
  Run,
  'id' | 'ord' | 'kind' | 'invocationId' | 'language' | 'mode' | 'onDisconnect' | 'capabilities' | 'createdAt'
> & { readonly queueState: QueueState; readonly availableAt: number };

/** Inserts a run without events; its first event follows in the same transaction. */
export async function insertRun(manager: EntityManager, session: Session, values: NewRun): Promise<Run> {
  const { availableAt, ...given } = values;
  const run: Run = {
    ...given,
    ...INITIAL_STATE,
    tenantId: session.tenantId,
    sessionId: session.id,
    agent: session.appName,
    priority: 0,
    leaseOwner: null,
    epoch: 0,
    attempt: 0,
    takeovers: 0,
    lastSeq: 0,
    execMs: 0,
    cancelRequestedAt: null,
    pendingInputs: 0,
    result: null,
    error: null,
    usage: NO_USAGE,
    eventsKept: 'all',
    startedAt: null,
    endedAt: null,
  };
  const columns = {
    id: run.id,
    tenant_id: run.tenantId,
    session_id: run.sessionId,
    ord: run.ord,
    kind: run.kind,
    agent: run.agent,
    invocation_id: run.invocationId,
    status: run.status,
    code: run.code,
    stage: run.stage,
    language: run.language,
    mode: run.mode,
    on_disconnect: run.onDisconnect,
    capabilities: toJson(run.capabilities),
    queue_state: run.queueState,
    available_at: availableAt,
    exec_ms: 0,
    token_usage: toJson(run.usage),
    events_kept: run.eventsKept,
    created_at: run.createdAt,
  };
  const names = Object.keys(columns);
  await manager.query(
    `INSERT INTO runs (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    Object.values(columns),
  );
  return run;
}

interface NewInput {
  readonly kind: 'message' | 'cancel';
  readonly requestId: string | null;
  readonly body: object;
  /** The event that the input became. */
  readonly appliedSeq: number;
}

/** Keeps an input of a run for the audit. */
export async function insertInput(
  manager: EntityManager,
  run: Pick<Run, 'id' | 'tenantId'>,
  receivedAt: number,
  actor: string,
  input: NewInput,
): Promise<void> {
  await manager.query(
    `INSERT INTO run_inputs (run_id, n, tenant_id, kind, request_id, actor, body, received_at, applied_seq)
     SELECT ?, COALESCE(MAX(n), 0) + 1, ?, ?, ?, ?, ?, ?, ? FROM run_inputs WHERE run_id = ?`,
    [
      run.id,
      run.tenantId,
      input.kind,
      input.requestId,
      actor,
      toJson(input.body),
      receivedAt,
      input.appliedSeq,
      run.id,
    ],
  );
}
