import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error.js';
import type { Principal } from '../auth/principal.js';
import type { JsonObject } from '../common/json.js';
import { fromJson } from '../database/columns.js';
import { Database } from '../database/database.js';
import { fromPageToken, toPageToken } from './page-token.js';
import { sessionOf } from './session-rows.js';
import { mergedState, stateOf } from './state.js';
import type { NamedSession, SessionList, SessionView } from './sessions.types.js';

type Row = Record<string, unknown>;

/** Sessions with the run that is active now and the newest one. */
const VIEW = `SELECT s.*,
  (SELECT a.id FROM runs a WHERE a.active_session_id = s.id) AS active_run_id,
  (SELECT a.status FROM runs a WHERE a.active_session_id = s.id) AS active_status,
  (SELECT l.id FROM runs l WHERE l.session_id = s.id AND l.kind = 'message' ORDER BY l.ord DESC LIMIT 1) AS last_run_id
  FROM sessions s`;

/** Reads sessions for their tenant. */
@Injectable()
export class SessionReader {
  constructor(private readonly database: Database) {}

  /** @throws AppError `SESSION_NOT_FOUND`, `SESSION_CLOSED` */
  async get(principal: Principal, sessionId: string): Promise<SessionView> {
    const rows = await this.database.query<Row>(`${VIEW} WHERE s.id = ? AND s.tenant_id = ?`, [
      sessionId,
      principal.tenantId,
    ]);
    if (rows[0] === undefined) throw AppError.notFound('session', sessionId);
    if (rows[0]['status'] !== 'open') throw new AppError('SESSION_CLOSED', `session ${sessionId} was deleted`);
    return this.withState(viewOf(rows[0]));
  }

  async list(
    principal: Principal,
    query: { readonly clientReference?: string; readonly pageToken?: string; readonly limit: number },
  ): Promise<SessionList> {
    const conditions = ['s.tenant_id = ?', "s.status = 'open'"];
    const parameters: unknown[] = [principal.tenantId];
    if (query.clientReference !== undefined) {
      conditions.push('s.client_reference = ?');
      parameters.push(query.clientReference);
    }
    if (query.pageToken !== undefined) {
      conditions.push('s.id < ?');
      parameters.push(fromPageToken(query.pageToken));
    }
    const rows = await this.database.query<Row>(
      `${VIEW} WHERE ${conditions.join(' AND ')} ORDER BY s.id DESC LIMIT ?`,
      [...parameters, query.limit + 1],
    );
    const sessions = rows.slice(0, query.limit).map(viewOf);
    const hasMore = rows.length > query.limit;
    const last = sessions.at(-1);
    return { sessions, hasMore, nextPageToken: hasMore && last !== undefined ? toPageToken(last.id) : null };
  }

  /** @throws AppError `SESSION_NOT_FOUND` */
  async findNamed(principal: Principal, named: NamedSession): Promise<SessionView> {
    const rows = await this.database.query<Row>(
      `${VIEW} WHERE s.tenant_id = ? AND s.app_name = ? AND s.user_id = ? AND s.external_id = ? AND s.status = 'open'`,
      [principal.tenantId, named.appName, named.userId, named.externalId],
    );
    if (rows[0] === undefined) throw AppError.notFound('session', named.externalId);
    return this.withState(viewOf(rows[0]));
  }

  /** In order of creation. */
  async listNamed(principal: Principal, appName: string, userId: string): Promise<readonly SessionView[]> {
    const rows = await this.database.query<Row>(
      `${VIEW} WHERE s.tenant_id = ? AND s.app_name = ? AND s.user_id = ? AND s.status = 'open' ORDER BY s.created_at, s.id`,
      [principal.tenantId, appName, userId],
    );
    // all of them share the app's and the user's state: it is read once
    const scopes = await this.scopesOf(principal.tenantId, appName, userId);
    return rows.map(viewOf).map((view) => ({ ...view, mergedState: mergedState(view.state, scopes.app, scopes.user) }));
  }

  private async withState(view: SessionView): Promise<SessionView> {
    const { app, user } = await this.scopesOf(view.tenantId, view.appName, view.userId);
    return { ...view, mergedState: mergedState(view.state, app, user) };
  }

  private async scopesOf(
    tenantId: string,
    appName: string,
    userId: string,
  ): Promise<{ readonly app: JsonObject; readonly user: JsonObject }> {
    const app = await this.database.query<{ state: unknown }>(
      'SELECT state FROM app_states WHERE tenant_id = ? AND app_name = ?',
      [tenantId, appName],
    );
    const user = await this.database.query<{ state: unknown }>(
      'SELECT state FROM user_states WHERE tenant_id = ? AND app_name = ? AND user_id = ?',
      [tenantId, appName, userId],
    );
    return { app: scope(app), user: scope(user) };
  }
}

function scope(rows: readonly { readonly state: unknown }[]): JsonObject {
  return rows[0] === undefined ? {} : stateOf(fromJson(rows[0].state));
}

function viewOf(row: Row): SessionView {
  const active = row['active_status'] as string | null;
  return {
    ...sessionOf(row),
    status: active === null ? 'idle' : active === 'waiting_input' ? 'waiting_input' : 'running',
    activeRunId: row['active_run_id'] as string | null,
    lastRunId: row['last_run_id'] as string | null,
  };
}
