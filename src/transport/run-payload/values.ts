import type { Json, JsonObject } from '../../common/json.js';
import type { ArtifactRef, InputRequired, PendingQuestion, RunError, Usage } from '../../events/values.js';

/** RFC 3339 in UTC with milliseconds. */
export function toTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** Typed plain data as the JSON object that it is, without the fields that are `undefined`. */
export function toJsonObject(value: object): JsonObject {
  const fields = Object.entries(value as Record<string, Json>);
  return Object.fromEntries(fields.filter(([, field]) => field !== undefined));
}

export function toUsage(usage: Usage): JsonObject {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    total_tokens: usage.totalTokens,
    cached_tokens: usage.cachedTokens,
    estimated: usage.estimated,
  };
}

/** A picture that a run made, without its URL: that one is signed for each reader and never part of an event. */
export function toArtifact(artifact: ArtifactRef, runId: string): JsonObject {
  return {
    artifact_id: artifact.artifactId,
    kind: artifact.kind,
    mime_type: artifact.mimeType,
    width: artifact.width,
    height: artifact.height,
    bytes: artifact.bytes,
    sha256: artifact.sha256,
    run_id: runId,
  };
}

export function toRunError(error: RunError): JsonObject {
  return {
    code: error.code,
    message: error.message,
    retryable: error.retryable,
    stage: error.stage,
    ...(error.details && { details: error.details }),
  };
}

/** What a run waits for; `tasks` is left out when nothing waits for approval. */
/** A waiting question without the call that asks it; `path` only inside a sub-agent. */
export function toPendingQuestion({ callUuid: _callUuid, path, ...question }: PendingQuestion): JsonObject {
  return { ...toJsonObject(question), ...(path.length > 0 && { path }) };
}

export function toInputRequired(input: InputRequired): JsonObject {
  const tasks = input.tasks.map((task) => ({
    call_uuid: task.callUuid,
    tool_name: task.toolName,
    args: task.args,
    comment: task.comment ?? null,
    path: task.path,
  }));
  return {
    question_id: input.questionId,
    mode: input.mode,
    questions: input.questions.map(toJsonObject),
    ...(tasks.length > 0 && { tasks }),
    ...(input.expiresAt !== undefined && { expires_at: toTime(input.expiresAt) }),
  };
}
