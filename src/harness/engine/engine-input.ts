import type { AnswerCheck } from '../ports/answer-check.js';
import type { ChatModel } from '../ports/chat-model.port.js';
import type { Permissions } from '../ports/permissions.port.js';
import type { RunInputs } from '../ports/run-inputs.port.js';
import type { Tool } from '../ports/tool.port.js';
import type { Suspension, Trace } from '../ports/trace.js';
import type { JsonObject } from '../../common/json.js';
import type { ParentLink } from '../../events/harness-event.js';
import type { Clock } from '../../common/clock.js';
import type { Ids } from '../../common/ids.js';

/** The limits of one engine run. */
export interface EngineLimits {
  /** Model calls of the whole run. */
  readonly maxTurns: number;
  /** Default time limit of a tool call, milliseconds. */
  readonly toolTimeoutMs: number;
  /** Characters of a tool's text that the model sees; the rest is cut in the middle. */
  readonly toolOutputChars: number;
  /** Attempts of one model call in all, at least 1. */
  readonly modelAttempts: number;
  /** Base of the full-jitter delay between attempts, milliseconds. */
  readonly retryBaseMs: number;
}

/** Everything one engine run needs; plain data and ports, no host. */
export interface EngineInput {
  readonly runId: string;
  readonly sessionId: string;
  readonly streamId: string;
  readonly agentName: string;
  readonly attempt: number;
  readonly system: string;
  readonly language: 'zh' | 'en';
  readonly trace: Trace;
  readonly suspension?: Suspension;
  readonly model: ChatModel;
  readonly tools: readonly Tool[];
  readonly permissions: Permissions;
  /** Laid over the arguments of every call: a model can neither see nor set these keys. */
  readonly toolContext: JsonObject;
  /** What the rejection of the only waiting call does when the decision does not say. */
  readonly rejectSingle: 'end' | 'observe';
  /** Set for a sub-agent: where its events hang. */
  readonly parent?: ParentLink;
  /** Task ids that lead to this agent; empty for the run's own. */
  readonly path: readonly string[];
  readonly limits: EngineLimits;
  readonly answerCheck?: AnswerCheck;
  readonly inputs: RunInputs;
  readonly clock: Clock;
  readonly ids: Ids;
}
