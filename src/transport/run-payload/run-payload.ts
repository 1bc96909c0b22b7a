import { assertNever } from '../../common/assert-never.js';
import type { JsonObject } from '../../common/json.js';
import type { EventType, ProgressState, TerminalEvent } from '../../events/harness-event.js';
import { textOf } from '../../events/parts.js';
import type { LoggedEvent, RunFacts } from '../../events/projection.js';
import { messageOf } from './messages.js';
import { toArtifact, toInputRequired, toJsonObject, toPendingQuestion, toRunError, toTime, toUsage } from './values.js';

/** The public name of each event type: a total map, so that ids stay dense on every door that uses it. */
const PUBLIC_TYPES = {
  run_queued: 'run.queued',
  run_running: 'run.running',
  cancelling: 'run.cancelling',
  recovered: 'run.recovered',
  run_completed: 'run.completed',
  run_failed: 'run.failed',
  run_cancelled: 'run.cancelled',
  run_expired: 'run.expired',
  input_required: 'run.input_required',
  answer_accepted: 'run.answer_accepted',
  steer_accepted: 'run.steer_accepted',
  steer_applied: 'run.steer_applied',
  usage: 'run.usage',
  imported: 'run.progress',
  progress: 'run.progress',
  run_start: 'run.progress',
  context_size: 'run.progress',
  reason_start: 'run.progress',
  reason_delta: 'run.message_delta',
  reason_end: 'run.progress',
  action_start: 'run.progress',
  tool_call_start: 'run.tool_started',
  tool_call_end: 'run.tool_finished',
  action_end: 'run.progress',
  plan: 'run.progress',
  hitl_pending: 'run.progress',
  hitl_decided: 'run.progress',
  run_end: 'run.progress',
  state_delta: 'run.progress',
  artifact: 'run.artifact',
} as const satisfies Record<EventType, `run.${string}`>;

/** The `type` of an event on `/v1` and gRPC. */
export type RunPayloadType = (typeof PUBLIC_TYPES)[EventType];

/** One event as `/v1` and gRPC tell it. */
export interface RunPayload {
  /** The event's position in its run. */
  readonly id: number;
  readonly type: RunPayloadType;
  /** Common fields, then the own fields of the type; JSON only. */
  readonly data: JsonObject;
}

/**
 * The public form of one event of the log: exactly one for each, so a stream, a page and a gRPC message of the
 * same event never differ. Pure.
 */
export function toRunPayload(run: RunFacts, event: LoggedEvent): RunPayload {
  const state = stateOf(event);
  const data: JsonObject = {
    session_id: run.sessionId,
    run_id: run.runId,
    capabilities: run.capabilities,
    status: event.status,
    code: event.code,
    stage: event.stage,
    state,
    time: toTime(event.at),
    message: messageOf(event.code, state, run.language),
    ...ownFields(event, run),
    ...(event.parent && {
      task: {
        task_id: event.parent.taskId,
        task_index: event.parent.taskIndex,
        run_id: event.runId,
        agent_name: event.agentName,
      },
    }),
  };
  return { id: event.seq, type: PUBLIC_TYPES[event.type], data };
}

function stateOf(event: LoggedEvent): ProgressState {
  switch (event.type) {
    case 'progress':
      return event.state;
    case 'tool_call_end':
      return event.outcome === 'ok' ? 'done' : 'failed';
    case 'run_queued':
    case 'input_required':
    case 'answer_accepted':
    case 'recovered':
      return 'pending';
    case 'reason_end':
    case 'action_end':
    case 'run_end':
    case 'artifact':
    case 'run_completed':
      return 'done';
    case 'run_failed':
    case 'run_expired':
      return 'failed';
    case 'run_cancelled':
      return 'skipped';
    default:
      return 'active';
  }
}

function ownFields(event: LoggedEvent, run: RunFacts): JsonObject {
  switch (event.type) {
    case 'run_queued':
      return { queue_position: event.queuePosition };
    case 'run_running':
      return { attempt: event.attempt };
    case 'recovered':
      return { attempt: event.attempt, discard_after: event.discardAfter };
    case 'cancelling':
      return { reason: event.reason };
    case 'run_completed':
    case 'run_failed':
    case 'run_expired':
    case 'run_cancelled':
      return terminalFields(event, run);
    case 'input_required':
      return { input_required: toInputRequired(event.inputRequired) };
    case 'answer_accepted':
    case 'steer_accepted':
    case 'steer_applied':
      return commandFields(event);
    case 'reason_delta':
    case 'tool_call_start':
    case 'tool_call_end':
      return stepFields(event);
    case 'artifact':
      return { artifact: toArtifact(event.artifact, run.runId) };
    case 'usage':
      return { usage: toUsage(event.usage) };
    case 'progress':
      return event.detail ? { detail: event.detail } : {};
    case 'hitl_pending':
      return { detail: { ...dataOf(event), questions: event.questions.map(toPendingQuestion) } };
    default:
      return { detail: dataOf(event) };
  }
}

function terminalFields(event: TerminalEvent, run: RunFacts): JsonObject {
  const common = {
    artifacts: event.artifacts.map((artifact) => toArtifact(artifact, run.runId)),
    usage: toUsage(event.usage),
  };
  switch (event.type) {
    case 'run_completed':
      return { result: toJsonObject(event.result), ...common };
    case 'run_failed':
    case 'run_expired':
      return { error: toRunError(event.error), ...common };
    case 'run_cancelled':
      return { reason: event.reason, ...common };
    default:
      return assertNever(event);
  }
}

type CommandEvent = Extract<LoggedEvent, { type: 'answer_accepted' | 'steer_accepted' | 'steer_applied' }>;

function commandFields(event: CommandEvent): JsonObject {
  switch (event.type) {
    case 'answer_accepted':
      return {
        request_id: event.requestId,
        question_id: event.questionId,
        ...(event.answers && { answers: event.answers.map(toJsonObject) }),
        ...(event.decisions && {
          decisions: event.decisions.map((made) => ({ call_uuid: made.callUuid, decision: made.decision })),
        }),
      };
    case 'steer_accepted':
      return { request_id: event.requestId, text: event.text, disposition: event.disposition };
    case 'steer_applied':
      return { request_id: event.requestId, text: textOf(event.input.parts) };
    default:
      return assertNever(event);
  }
}

type StepEvent = Extract<LoggedEvent, { type: 'reason_delta' | 'tool_call_start' | 'tool_call_end' }>;

function stepFields(event: StepEvent): JsonObject {
  switch (event.type) {
    case 'reason_delta':
      return {
        reason_id: event.reasonId,
        channel: event.kind,
        text: event.text ?? '',
        ...(event.media && { media: event.media }),
      };
    case 'tool_call_start':
      return {
        call_id: event.callId,
        tool_name: event.toolName,
        args: event.args,
        reason_id: event.reasonId,
        ...(event.resumed !== undefined && { resumed: event.resumed }),
      };
    case 'tool_call_end':
      return {
        call_id: event.callId,
        tool_name: event.toolName,
        reason_id: event.reasonId,
        outcome: event.outcome,
        text: event.text,
        error: event.error && { code: event.error.code, message: event.error.message },
        duration_ms: event.durationMs,
      };
    default:
      return assertNever(event);
  }
}

/** `{type, …}`: the event's own data as the log holds it, for readers who want more than the public fields. */
function dataOf(event: LoggedEvent): JsonObject {
  const { type, runId, at, agentName, sessionId, streamId, meta, parent, seq, status, code, stage, ...own } = event;
  return { type, ...toJsonObject(own) };
}
