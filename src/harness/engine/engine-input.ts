import type { OpenAnswer } from '../ports/agent-run.js';
import type { AnswerCheck } from '../ports/answer-check.js';
import type { ChatMessage, ChatModel } from '../ports/chat-model.port.js';
import type { RunInputs } from '../ports/run-inputs.port.js';
import type { Tool } from '../ports/tool.port.js';
import type { ToolCallRequest } from '../../events/values.js';
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
  /** History and the new message, oldest first; every tool call in it has its result, except `openCalls`. */
  readonly messages: readonly ChatMessage[];
  /** Turns that the run already took (a takeover, a resume). */
  readonly turnsTaken: number;
  /** Calls of the newest assistant message that never started: they run first, without a model call. */
  readonly openCalls?: { readonly reasonId: string; readonly calls: readonly ToolCallRequest[] };
  /** The run's newest answer, whole and not among `messages`: it is judged first, without a model call. */
  readonly openAnswer?: OpenAnswer;
  readonly model: ChatModel;
  readonly tools: readonly Tool[];
  readonly limits: EngineLimits;
  readonly answerCheck?: AnswerCheck;
  readonly inputs: RunInputs;
  readonly clock: Clock;
  readonly ids: Ids;
}
