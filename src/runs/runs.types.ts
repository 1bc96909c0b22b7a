import type { JsonObject } from '../common/json.js';
import type { Capability, LoggedEvent, RunFacts } from '../events/projection.js';
import type { RunStatus } from '../events/run-state.js';
import type { ResourceKind } from '../vision/pictures.types.js';
import type { ArtifactRef, InputRequired, RunError, RunResult, Usage } from '../events/values.js';
import type { SessionView } from '../sessions/sessions.types.js';

export type Door = 'v1' | 'adk' | 'solon' | 'grpc';

/** What a busy session does with a new message (contract runs §2.9). */
export const MESSAGE_MODES = ['queue', 'reject', 'interrupt', 'rollback'] as const;
export type MessageMode = (typeof MESSAGE_MODES)[number];

/** What the end of an observing connection means for the run. */
export const ON_DISCONNECT = ['cancel', 'continue'] as const;
export type OnDisconnect = (typeof ON_DISCONNECT)[number];

/** A picture as a caller names it. */
export type ResourceInput =
  | { readonly kind: 'url'; readonly resourceId?: string; readonly url: string }
  | { readonly kind: 'bytes'; readonly resourceId?: string; readonly bytes: Uint8Array; readonly mimeType?: string }
  /** `sourceType`, when it is given, must be that of the picture's first use. */
  | { readonly kind: 'stored'; readonly resourceId: string; readonly sourceType?: ResourceKind };

/** One piece of a new message, in the caller's order. */
export type MessagePart =
  | { readonly kind: 'text'; readonly text: string; readonly thought?: boolean; readonly signature?: string }
  | { readonly kind: 'resource'; readonly resource: ResourceInput; readonly displayName?: string }
  | { readonly kind: 'wire'; readonly value: JsonObject };

export interface SubmitMessage {
  readonly door: Door;
  readonly sessionId: string;
  /** Idempotency key; the ADK wire has none. */
  readonly requestId?: string;
  /** undefined: the run goes on from the history (ADK only). */
  readonly parts?: readonly MessagePart[];
  readonly role?: string;
  readonly mode?: MessageMode;
  readonly timeZone?: string;
  /** Subset of the session's; checked on `/v1` and gRPC only. */
  readonly capabilities?: readonly Capability[];
  readonly responseSchema?: JsonObject;
  readonly onDisconnect?: OnDisconnect;
  /** True when the answer of this very call observes the run: a free worker then starts it at once. */
  readonly attached: boolean;
  readonly invocationId?: string;
  readonly stateDelta?: JsonObject;
}

export interface CancelRun {
  readonly sessionId: string;
  readonly requestId: string;
  /** Precondition: 409 `RUN_NOT_ACTIVE` when another run is active. */
  readonly runId?: string;
  readonly reason?: string;
}

export type Disposition =
  'started' | 'queued' | 'applied' | 'deferred' | 'cancelling' | 'cancelled' | 'noop' | 'replayed';

/** What a caller gets for an accepted action (contract runs §2.3). */
export interface Receipt {
  readonly accepted: true;
  readonly sessionId: string;
  readonly runId: string | null;
  readonly requestId: string | null;
  readonly action: 'message' | 'steer' | 'cancel' | 'answer';
  readonly mode: MessageMode | null;
  readonly disposition: Disposition;
  readonly status: RunStatus | null;
  readonly code: string | null;
  readonly stage: string | null;
  readonly queuePosition: number | null;
  /** The run's last event id at that moment. */
  readonly cursor: number | null;
}

/** A run as it stands now; times in epoch milliseconds. */
export interface RunView {
  readonly facts: RunFacts;
  readonly kind: 'message' | 'import';
  readonly status: RunStatus;
  readonly code: string;
  readonly stage: string;
  readonly inputRequired: InputRequired | null;
  readonly result: RunResult | null;
  readonly error: RunError | null;
  readonly artifacts: readonly ArtifactRef[];
  readonly usage: Usage;
  readonly attempt: number;
  readonly mode: MessageMode | null;
  readonly queuePosition: number | null;
  readonly lastSeq: number;
  /** Smallest cursor that can still be read from; above 0 once the log was compacted. */
  readonly oldestCursor: number;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

export interface RunPage {
  readonly run: RunView;
  readonly events: readonly LoggedEvent[];
  readonly nextCursor: number;
  readonly hasMore: boolean;
}

/** A checked observation: nothing of it can fail with a status any more. */
export interface RunStream {
  readonly run: RunView;
  /** True when the cursor stands at the terminal event: nothing will come. */
  readonly isOver: boolean;
  /**
   * The events in order, as many at a time as there are; no piece is empty. Ends after the terminal event, when
   * `stopAtInput` also after `input_required`, or when the signal aborts.
   */
  pieces(signal: AbortSignal): AsyncIterable<readonly LoggedEvent[]>;
}

/** One picture of a request, as the audit shows it. */
export interface AuditResource {
  readonly index: number;
  readonly resourceId: string;
  readonly sourceType: 'url' | 'base64' | 'upload' | 'artifact';
  readonly sourceUrl: string | null;
  readonly sha256: string | null;
  readonly mimeType: string | null;
  readonly width: number | null;
  readonly height: number | null;
  readonly bytes: number | null;
}

/** One request of a run: message, steer, answer, decision, cancel. */
export interface AuditRequest {
  readonly requestId: string | null;
  readonly action: string;
  readonly mode: MessageMode | null;
  readonly text: string | null;
  readonly resources: readonly AuditResource[];
  readonly receivedAt: number;
  readonly actor: string;
  readonly disposition: string;
  readonly appliedAtEvent: number | null;
}

/** One answer that a run gave. */
export type AuditResponse =
  | {
      readonly kind: 'accepted';
      readonly httpStatus: 202;
      readonly accepted: true;
      readonly time: number;
      readonly eventId: number;
    }
  | {
      readonly kind: 'agent_result';
      readonly httpStatus: 200;
      readonly result: RunResult;
      readonly time: number;
      readonly eventId: number;
    }
  | {
      readonly kind: 'input_required';
      readonly httpStatus: 200;
      readonly questionId: string;
      readonly time: number;
      readonly eventId: number;
    }
  | {
      readonly kind: 'answer_result';
      readonly httpStatus: 200;
      readonly businessStatus: number;
      readonly time: number;
      readonly eventId: number;
    }
  | {
      readonly kind: 'error';
      readonly httpStatus: 200;
      readonly error: RunError;
      readonly time: number;
      readonly eventId: number;
    }
  | { readonly kind: 'cancelled'; readonly httpStatus: 200; readonly time: number; readonly eventId: number };

export interface RunRecord {
  readonly run: RunView;
  readonly requests: readonly AuditRequest[];
  readonly responses: readonly AuditResponse[];
  readonly events: readonly LoggedEvent[];
}

export interface SessionSnapshot {
  readonly session: SessionView;
  readonly lastRunId: string | null;
  readonly lastStatus: RunStatus | null;
  /** Oldest first. */
  readonly runs: readonly RunRecord[];
  readonly hasMoreRuns: boolean;
}
