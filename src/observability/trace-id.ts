import { randomUUID } from 'node:crypto';

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-|$)/;

/**
 * The trace id of one call: the caller's from its `traceparent` (W3C Trace Context), else a new one.
 * @returns 32 hex digits
 */
export function traceIdFrom(traceparent: unknown): string {
  const given = typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent)?.[1] : undefined;
  // drawn in bulk, so it is far cheaper than as many random bytes; six of its 128 bits are fixed
  return given ?? randomUUID().replaceAll('-', '');
}
