import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/;
const NO_TRACE = '0'.repeat(32);

/**
 * The trace id of a call, 32 hex digits: the caller's own from `traceparent` (W3C Trace Context), else a new one.
 * Fastify keeps it as `request.id`.
 */
export function traceIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const header = request.headers['traceparent'];
  const given = typeof header === 'string' ? TRACEPARENT.exec(header)?.[1] : undefined;
  return given !== undefined && given !== NO_TRACE ? given : randomBytes(16).toString('hex');
}
