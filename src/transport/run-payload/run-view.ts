import { assertNever } from '../../common/assert-never.js';
import type { JsonObject } from '../../common/json.js';
import type { AuditRequest, AuditResource, AuditResponse, Receipt, RunView } from '../../runs/runs.types.js';
import type { SessionView } from '../../sessions/sessions.types.js';
import { toArtifact, toInputRequired, toJsonObject, toRunError, toTime, toUsage } from './values.js';

/** A session as `/v1` and gRPC show it; without `state` when the view has none (lists). */
export function toSession(session: SessionView): JsonObject {
  return {
    id: session.id,
    created_at: toTime(session.createdAt),
    status: session.status,
    capabilities: session.capabilities,
    client_reference: session.clientReference,
    agent: session.appName,
    user_id: session.userId,
    time_zone: session.timeZone,
    updated_at: toTime(session.updatedAt),
    active_run_id: session.activeRunId,
    last_run_id: session.lastRunId,
    ...(session.mergedState && { state: session.mergedState }),
  };
}

/** What a caller gets for an accepted action. */
export function toReceipt(receipt: Receipt): JsonObject {
  return {
    accepted: receipt.accepted,
    session_id: receipt.sessionId,
    run_id: receipt.runId,
    request_id: receipt.requestId,
    action: receipt.action,
    mode: receipt.mode,
    disposition: receipt.disposition,
    status: receipt.status,
    code: receipt.code,
    stage: receipt.stage,
    queue_position: receipt.queuePosition,
    cursor: receipt.cursor,
  };
}

/** A run as it stands now, without its events and its audit. */
export function toRun(run: RunView): JsonObject {
  return {
    run_id: run.facts.runId,
    status: run.status,
    code: run.code,
    stage: run.stage,
    capabilities: run.facts.capabilities,
    input_required: run.inputRequired && toInputRequired(run.inputRequired),
    result: run.result && toJsonObject(run.result),
    error: run.error && toRunError(run.error),
    artifacts: run.artifacts.map((artifact) => toArtifact(artifact, run.facts.runId)),
    usage: toUsage(run.usage),
    attempt: run.attempt,
    mode: run.mode,
    queue_position: run.queuePosition,
    created_at: toTime(run.createdAt),
    started_at: run.startedAt === null ? null : toTime(run.startedAt),
    ended_at: run.endedAt === null ? null : toTime(run.endedAt),
  };
}

/** One request of a run. */
export function toAuditRequest(request: AuditRequest): JsonObject {
  return {
    request_id: request.requestId,
    action: request.action,
    mode: request.mode,
    text: request.text,
    resources: request.resources.map(toAuditResource),
    received_at: toTime(request.receivedAt),
    actor: request.actor,
    disposition: request.disposition,
    applied_at_event: request.appliedAtEvent,
  };
}

function toAuditResource(resource: AuditResource): JsonObject {
  return {
    index: resource.index,
    resource_id: resource.resourceId,
    source_type: resource.sourceType,
    url: resource.sourceUrl,
    width: resource.width,
    height: resource.height,
    mime_type: resource.mimeType,
    bytes: resource.bytes,
    sha256: resource.sha256,
    // the link is the caller's own until there are signed ones of ours
    url_expires_at: null,
  };
}

/** One answer that a run gave. */
export function toAuditResponse(response: AuditResponse): JsonObject {
  const common = { time: toTime(response.time), event_id: response.eventId };
  const head = { kind: response.kind, http_status: response.httpStatus };
  switch (response.kind) {
    case 'accepted':
      return { ...head, accepted: true, ...common };
    case 'agent_result':
      return { ...head, result: toJsonObject(response.result), ...common };
    case 'input_required':
      return { ...head, question_id: response.questionId, ...common };
    case 'answer_result':
      return { ...head, business_status: response.businessStatus, ...common };
    case 'error':
      return { ...head, error: toRunError(response.error), ...common };
    case 'cancelled':
      return { ...head, ...common };
    default:
      return assertNever(response);
  }
}
