import { randomBytes } from 'node:crypto';

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-|$)/;

/**
 * The trace id of one call: the caller's from its `traceparent` (W3C Trace Context), else a new one.
 * @returns 32 hex digits
 */
export function traceIdFrom(traceparent: unknown): string {
  const given = typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent)?.[1] : undefined;
  return given ?? randomBytes(16).toString('hex');
}
