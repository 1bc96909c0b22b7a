import type { JsonObject } from '../../common/json.js';
import type { Receipt } from '../../runs/runs.types.js';

/** The message of the one line that every accepted action leaves in the log. */
export const ACTION_ACCEPTED = 'action accepted';

/** What that line tells beside its `traceId`; never what the user wrote. */
export function receiptFacts(receipt: Receipt): JsonObject {
  const { action, sessionId, runId, requestId, disposition } = receipt;
  return { action, sessionId, runId, requestId, disposition };
}
