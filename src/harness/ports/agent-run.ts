import type { RunFacts } from '../../events/projection.js';
import type { FinishReason, ToolCallRequest } from '../../events/values.js';
import type { AnswerCheck } from './answer-check.js';
import type { ChatMessage } from './chat-model.port.js';
import type { RunInputs } from './run-inputs.port.js';

/** A whole answer without calls that nobody has judged yet: its worker was lost between the answer and the run's end. */
export interface OpenAnswer {
  readonly text: string;
  readonly thinking: string;
  readonly finishReason: FinishReason;
}

/** What a host gives to run, or to go on with, a run. */
export interface AgentRun {
  readonly run: RunFacts;
  /** From 1; above after a takeover. */
  readonly attempt: number;
  /** IANA name of the message, else of the session. */
  readonly timeZone: string | undefined;
  /** The conversation so far, the new message last. */
  readonly messages: readonly ChatMessage[];
  readonly turnsTaken: number;
  /** Calls of the newest answer that never started: they run first. */
  readonly openCalls: { readonly reasonId: string; readonly calls: readonly ToolCallRequest[] } | undefined;
  /** The run's newest answer, not among `messages`: it is judged first, and the model is not asked for it again. */
  readonly openAnswer: OpenAnswer | undefined;
  readonly answerCheck: AnswerCheck | undefined;
  /** Added to the agent's prompt: the shape that this run's answer must have. */
  readonly answerInstructions: string | undefined;
  readonly inputs: RunInputs;
}
