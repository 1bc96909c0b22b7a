import type { Json, JsonObject } from '../common/json.js';
import type { Reason } from '../common/reasons.js';

/** Tokens of one model call, or of one request; `totalDuration` in milliseconds. */
export interface TokenCounts {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  readonly cacheCreationInputTokens: number;
  readonly cacheReadInputTokens: number;
}

export interface Metrics extends TokenCounts {
  readonly totalDuration: number;
}

/** One tool call that the model asked for. */
export interface ToolCallRequest {
  /** Ours, unique, durable: the key of the call in every event. */
  readonly callId: string;
  /** The model's own id, or one made for it. */
  readonly providerCallId: string;
  readonly toolName: string;
  /** What the model sent: an object, or its raw text when it was not one. */
  readonly args: JsonObject | string;
}

export interface ToolCallView {
  readonly callId: string;
  readonly toolName: string;
  readonly args: JsonObject;
}

export type ToolOutcome = 'ok' | 'error' | 'denied' | 'rejected' | 'skipped' | 'timeout' | 'cancelled' | 'unknown';

export interface ToolError {
  readonly code: string;
  readonly message: string;
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'other';

/** Why the engine ended a request. */
export type EndReason =
  | 'completed'
  | 'pending'
  | 'max_turns'
  | 'provider_error'
  | 'empty_answer'
  | 'invalid_result'
  | 'rejected'
  | 'feedback'
  | 'loop'
  | 'budget'
  | 'cancelled';

/** A tool call that waits for a human. */
export interface PendingTask {
  readonly callUuid: string;
  readonly toolName: string;
  readonly args: JsonObject;
  readonly comment?: string;
  /** Task ids of the children that lead to the call; empty for the run's own. */
  readonly path: readonly string[];
}

/** What a human decided about a tool call that waited for it (contract engine §3). */
export interface ToolDecision {
  readonly decision: 'approve' | 'reject' | 'skip';
  /** Approved: appended to the tool's result; else what the model reads in its place. */
  readonly comment?: string;
  /** Approved: laid over the model's arguments, key by key. */
  readonly modifiedArgs?: JsonObject;
  /** What the rejection of the only waiting call does; default `end`: the run is over. */
  readonly ifRejected?: 'end' | 'observe';
}

export interface QuestionOption {
  readonly label: string;
  readonly description?: string;
  readonly followUp?: { readonly id: string; readonly header?: string; readonly question: string };
}

export interface Question {
  readonly id: string;
  readonly header?: string;
  readonly question: string;
  readonly inputType: 'single_select' | 'multi_select' | 'text' | 'confirm' | 'image_region';
  readonly options: readonly QuestionOption[];
  readonly multiSelect: boolean;
  readonly optional?: boolean;
}

/** A question that a call asks; its `id` is unique within the call. */
export interface PendingQuestion extends Question {
  readonly callUuid: string;
  /** Task ids of the children that lead to the call; empty for the run's own. */
  readonly path: readonly string[];
}

export interface InputRequired {
  readonly questionId: string;
  readonly mode: 'select' | 'text' | 'approval';
  readonly questions: readonly Question[];
  readonly tasks: readonly PendingTask[];
  /** Epoch milliseconds. */
  readonly expiresAt?: number;
}

export interface QuestionAnswer {
  readonly id: string;
  readonly selected: readonly string[];
  readonly custom: string;
}

/** Tokens of a whole run so far. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly cachedTokens: number;
  readonly estimated: boolean;
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0, cachedTokens: 0, estimated: false };

export type RunResult =
  | { readonly type: 'json'; readonly data: Json }
  | { readonly type: 'text'; readonly data: { readonly text: string; readonly end?: EndReason } };

/** Why a run failed; `message` is safe for clients. */
export interface RunError {
  readonly code: Reason;
  readonly message: string;
  readonly retryable: boolean;
  readonly stage: string;
  readonly details?: JsonObject;
}

/** A picture that a run made; its URL is signed when it is read. */
export interface ArtifactRef {
  readonly artifactId: string;
  readonly kind: 'image';
  readonly mimeType: string;
  readonly width: number;
  readonly height: number;
  readonly bytes: number;
  readonly sha256: string;
}
