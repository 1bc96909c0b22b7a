import type { EntityManager } from 'typeorm';
import { AppError } from '../common/app-error.js';
import { fromJson, toJson } from '../database/columns.js';

/** The key of an action that may be repeated: (tenant, session, request id). */
export interface RequestKey {
  readonly tenantId: string;
  /** `-` for the creation of a session. */
  readonly sessionId: string;
  readonly requestId: string;
}

interface LedgerRow {
  readonly body_hash: string;
  readonly response: unknown;
}

type Query = <Row>(sql: string, parameters: unknown[]) => Promise<Row[]>;

/**
 * The first outcome of a request, if it was seen before.
 * @param query runs inside the command's transaction, or outside for a first look
 * @throws AppError `REQUEST_ID_CONFLICT` when the id was used with another body
 */
export async function firstOutcome<T>(query: Query, key: RequestKey, bodyHash: string): Promise<T | undefined> {
  const rows = await query<LedgerRow>(
    'SELECT body_hash, response FROM requests WHERE tenant_id = ? AND session_id = ? AND request_id = ?',
    [key.tenantId, key.sessionId, key.requestId],
  );
  const row = rows[0];
  if (row === undefined) return undefined;
  if (row.body_hash !== bodyHash) {
    throw new AppError('REQUEST_ID_CONFLICT', `request_id ${key.requestId} was already used with another body`);
  }
  return fromJson<T>(row.response);
}

/** Keeps the outcome of a request that changed something. */
export async function keepOutcome(
  manager: EntityManager,
  key: RequestKey,
  bodyHash: string,
  outcome: { readonly runId: string | null; readonly status: number; readonly response: unknown; readonly at: number },
): Promise<void> {
  await manager.query(
    'INSERT INTO requests (tenant_id, session_id, request_id, body_hash, run_id, status, response, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    [
      key.tenantId,
      key.sessionId,
      key.requestId,
      bodyHash,
      outcome.runId,
      outcome.status,
      toJson(outcome.response),
      outcome.at,
    ],
  );
}
