import type { EntityManager } from 'typeorm';
import { fromJson, toJson } from '../database/columns.js';
import type { Database } from '../database/database.js';
import type { JsonObject } from '../common/json.js';
import { scopedDelta, stateOf } from './state.js';
import type { Session } from './sessions.types.js';

/** `closed`: deleted, its rows are going; `erased`: only the id is left. */
export type SessionRowStatus = 'open' | 'closed' | 'erased';

type Row = Record<string, unknown>;

/** Reads a row of `sessions`. */
export function sessionOf(row: Row): Session {
  return {
    id: row['id'] as string,
    tenantId: row['tenant_id'] as string,
    appName: row['app_name'] as string,
    userId: row['user_id'] as string,
    externalId: row['external_id'] as string,
    state: stateOf(fromJson(row['state'])),
    version: Number(row['version']),
    capabilities: fromJson(row['capabilities']),
    clientReference: row['client_reference'] as string | null,
    timeZone: row['time_zone'] as string | null,
    createdAt: Number(row['created_at']),
    updatedAt: Number(row['updated_at']),
  };
}

export async function insertSession(manager: EntityManager, session: Session): Promise<void> {
  await manager.query(
    'INSERT INTO sessions (id, tenant_id, app_name, user_id, external_id, state, version, capabilities, client_reference, time_zone, status, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    [
      session.id,
      session.tenantId,
      session.appName,
      session.userId,
      session.externalId,
      toJson(session.state),
      session.version,
      toJson(session.capabilities),
      session.clientReference,
      session.timeZone,
      'open',
      session.createdAt,
      session.updatedAt,
    ],
  );
}

/** A session with the status of its row. */
export interface SessionRow {
  readonly session: Session;
  readonly status: SessionRowStatus;
}

/** Reads a session as committed, without a lock. */
export async function readSession(
  database: Database,
  tenantId: string,
  sessionId: string,
): Promise<SessionRow | undefined> {
  const rows = await database.query<Row>('SELECT * FROM sessions WHERE id = ? AND tenant_id = ?', [
    sessionId,
    tenantId,
  ]);
  return rows[0] && sessionRowOf(rows[0]);
}

/** Locks a session: every command on it waits for this. */
export async function lockSession(
  database: Database,
  manager: EntityManager,
  tenantId: string,
  sessionId: string,
): Promise<SessionRow | undefined> {
  const rows = await manager.query<Row[]>(
    `SELECT * FROM sessions WHERE id = ? AND tenant_id = ?${database.forUpdate}`,
    [sessionId, tenantId],
  );
  return rows[0] && sessionRowOf(rows[0]);
}

function sessionRowOf(row: Row): SessionRow {
  return { session: sessionOf(row), status: row['status'] as SessionRowStatus };
}

/** Applies a delta to the session's, the app's and the user's state; `temp:` keys are not stored. */
export async function applyDelta(
  database: Database,
  manager: EntityManager,
  session: Session,
  delta: JsonObject,
  nowMs: number,
): Promise<void> {
  const { session: own, app, user } = scopedDelta(delta);
  await manager.query('UPDATE sessions SET state = ?, version = version + 1, updated_at = ? WHERE id = ?', [
    toJson({ ...session.state, ...own }),
    nowMs,
    session.id,
  ]);
  const { tenantId, appName, userId } = session;
  await mergeState(database, manager, 'app_states', { tenant_id: tenantId, app_name: appName }, app);
  await mergeState(database, manager, 'user_states', { tenant_id: tenantId, app_name: appName, user_id: userId }, user);
}

async function mergeState(
  database: Database,
  manager: EntityManager,
  table: 'app_states' | 'user_states',
  key: Readonly<Record<string, string>>,
  delta: JsonObject,
): Promise<void> {
  if (Object.keys(delta).length === 0) return;
  const names = Object.keys(key);
  const where = names.map((name) => `${name} = ?`).join(' AND ');
  const values = Object.values(key);
  const lock = async (): Promise<{ state: unknown } | undefined> => {
    const sql = `SELECT state FROM ${table} WHERE ${where}${database.forUpdate}`;
    return (await manager.query<{ state: unknown }[]>(sql, values))[0];
  };
  let row = await lock();
  if (row === undefined) {
    // INSERT IGNORE would only share the lock of a row that another one made meanwhile, and two who share it deadlock
    const ifThere = database.kind === 'mysql' ? 'ON DUPLICATE KEY UPDATE version = version' : 'ON CONFLICT DO NOTHING';
    await manager.query(
      `INSERT INTO ${table} (${names.join(', ')}, state, version) VALUES (${names.map(() => '?').join(', ')}, ?, 0)
       ${ifThere}`,
      [...values, '{}'],
    );
    row = await lock();
  }
  const state = { ...stateOf(fromJson(row?.state ?? '{}')), ...delta };
  await manager.query(`UPDATE ${table} SET state = ?, version = version + 1 WHERE ${where}`, [
    toJson(state),
    ...values,
  ]);
}
