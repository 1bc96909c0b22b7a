import type { JsonObject } from '../common/json.js';
import type { Part, UserInput } from './parts.js';
import type {
  ArtifactRef,
  EndReason,
  FinishReason,
  InputRequired,
  Metrics,
  PendingQuestion,
  PendingTask,
  QuestionAnswer,
  RunError,
  RunResult,
  TokenCounts,
  ToolCallRequest,
  ToolCallView,
  ToolError,
  ToolOutcome,
  Usage,
} from './values.js';

/** Where a sub-agent's event hangs. */
export interface ParentLink {
  readonly runId: string;
  readonly taskId: string;
  readonly taskIndex: number;
  readonly agentName: string;
  readonly description: string;
}

/** Fields of every event. */
export interface EventCommon {
  /** The public run; for a sub-agent's event the child's run. */
  readonly runId: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly agentName: string;
  readonly sessionId: string;
  /** One engine subscription; empty for events that no engine made. */
  readonly streamId: string;
  /** Side facts that no reader needs to understand: `modelVersion`, `json` (the tool's text is JSON), … */
  readonly meta?: JsonObject;
  readonly parent?: ParentLink;
}

/** What a `progress` event tells. */
export type ProgressCode =
  | 'PREPARING'
  | 'FETCHING_RESOURCES'
  | 'ANALYZING_IMAGE'
  | 'CALLING_MODEL'
  | 'CALLING_TOOL'
  | 'MODEL_RETRY'
  | 'MODEL_FALLBACK'
  | 'LOOP_WARNING'
  | 'MCP_PROGRESS'
  | 'MCP_SERVER_UNAVAILABLE'
  | 'GENERATING_IMAGE'
  | 'FINALIZING';

export type ProgressState = 'pending' | 'active' | 'done' | 'failed' | 'skipped';

/** The own fields of each event type. One row a type is documented in `docs/events.md`. */
export interface EventFields {
  // life cycle
  run_queued: { input: UserInput | null; stateDelta?: JsonObject; queuePosition: number };
  run_running: { attempt: number; hasPictures: boolean };
  cancelling: { reason: string | null };
  recovered: { attempt: number; discardAfter: number };
  run_completed: { result: RunResult; artifacts: readonly ArtifactRef[]; usage: Usage };
  run_failed: { error: RunError; artifacts: readonly ArtifactRef[]; usage: Usage };
  run_cancelled: { reason: string | null; artifacts: readonly ArtifactRef[]; usage: Usage };
  run_expired: { error: RunError; artifacts: readonly ArtifactRef[]; usage: Usage };
  input_required: { inputRequired: InputRequired };
  answer_accepted: {
    requestId: string | null;
    questionId: string;
    answers?: readonly QuestionAnswer[];
    decisions?: readonly { callUuid: string; decision: 'approve' | 'reject' | 'skip' }[];
    /** True while something of the batch is still open. */
    open: boolean;
  };
  steer_accepted: { requestId: string; text: string; disposition: 'applied' | 'deferred' };
  steer_applied: { requestId: string; input: UserInput };
  usage: { usage: Usage };
  imported: { event: JsonObject };
  /** A picture given by URL is stored now; it replaces the `image_url` part with the same `index`. */
  progress: { code: ProgressCode; state: ProgressState; detail?: JsonObject; attached?: readonly Part[] };

  // engine
  run_start: object;
  context_size: {
    contextLength: number;
    messageCount: number;
    tokenCount: number;
    compressed: boolean;
    beforeMessageCount: number;
    afterMessageCount: number;
    beforeTokenCount: number;
    afterTokenCount: number;
    summary?: string;
    covers?: { runId: string; seq: number };
  };
  reason_start: { reasonId: string };
  reason_delta: { reasonId: string; kind: 'text' | 'thinking' | 'media'; text?: string; media?: JsonObject };
  reason_end: {
    reasonId: string;
    text: string;
    thinking?: string;
    toolCalls: readonly ToolCallRequest[];
    usage?: TokenCounts;
    finishReason: FinishReason;
    durationMs: number;
    interrupted?: 'cancelled' | 'recovered';
  };
  action_start: { calls: readonly ToolCallView[] };
  tool_call_start: { callId: string; toolName: string; args: JsonObject; reasonId: string; resumed?: boolean };
  tool_call_end: {
    callId: string;
    toolName: string;
    reasonId: string;
    outcome: ToolOutcome;
    text: string;
    error: ToolError | null;
    durationMs: number;
  };
  action_end: object;
  plan: {
    plans: readonly string[];
    planStage: 'CREATE' | 'PROGRESS' | 'REVISE';
    planIndex: number;
    reasonId: string;
  };
  hitl_pending: { pendingTasks: readonly PendingTask[]; questions: readonly PendingQuestion[] };
  hitl_decided: {
    callId: string;
    toolName: string;
    args: JsonObject;
    comment?: string;
    decision: 'approve' | 'reject' | 'skip';
  };
  run_end: { text: string; reason: EndReason; abnormal: boolean; metrics: Metrics };
  state_delta: { delta: JsonObject };
  artifact: { artifact: ArtifactRef; filename: string; version: number };
}

export type EventType = keyof EventFields;

/** One event of type `T`. */
export type EventOf<T extends EventType> = { readonly type: T } & EventCommon & Readonly<EventFields[T]>;

/** The canonical event: one union of frozen plain data (architecture §3). The log adds `seq`. */
export type HarnessEvent = { [T in EventType]: EventOf<T> }[EventType];

/** The events that only an engine yields; the rest belong to the run's life cycle. */
export const ENGINE_EVENT_TYPES = [
  'run_start',
  'context_size',
  'reason_start',
  'reason_delta',
  'reason_end',
  'action_start',
  'tool_call_start',
  'tool_call_end',
  'action_end',
  'plan',
  'hitl_pending',
  'hitl_decided',
  'run_end',
  'state_delta',
  'artifact',
  'progress',
] as const satisfies readonly EventType[];

export type EngineEventType = (typeof ENGINE_EVENT_TYPES)[number];

/** What an engine yields, without `seq`. */
export type EngineEvent = { [T in EngineEventType]: EventOf<T> }[EngineEventType];

export const TERMINAL_EVENT_TYPES = ['run_completed', 'run_failed', 'run_cancelled', 'run_expired'] as const;

export type TerminalEvent = Extract<HarnessEvent, { type: (typeof TERMINAL_EVENT_TYPES)[number] }>;

/** True for the one event after which a run has no other. */
export function isTerminal(event: HarnessEvent): event is TerminalEvent {
  return (TERMINAL_EVENT_TYPES as readonly string[]).includes(event.type);
}
