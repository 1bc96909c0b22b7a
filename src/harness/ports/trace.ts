import type {
  EndReason,
  FinishReason,
  PendingQuestion,
  PendingTask,
  QuestionAnswer,
  ToolCallRequest,
  ToolDecision,
} from '../../events/values.js';
import type { ChatMessage } from './chat-model.port.js';

/** A whole answer without calls that nobody has judged yet: its worker was lost between the answer and the run's end. */
export interface OpenAnswer {
  readonly text: string;
  readonly thinking: string;
  readonly finishReason: FinishReason;
}

/** Calls of the newest answer that have no result: a resume begins with them, without a model call. */
export interface OpenCalls {
  readonly reasonId: string;
  readonly calls: readonly ToolCallRequest[];
  /** Sub-agents that these calls started before they were suspended, by call id. */
  readonly children?: ReadonlyMap<string, readonly ChildTrace[]>;
}

/** What an agent has done so far, as its log tells it. */
export interface Trace {
  /** The conversation, oldest first; every call in it has its result, except the open ones. */
  readonly messages: readonly ChatMessage[];
  /** Model calls that the run already took. */
  readonly turnsTaken: number;
  readonly openCalls: OpenCalls | undefined;
  readonly openAnswer: OpenAnswer | undefined;
}

/** One sub-agent's run inside a suspended call: what it did, or how it ended. */
export interface ChildTrace {
  readonly taskId: string;
  readonly taskIndex: number;
  readonly runId: string;
  readonly agentName: string;
  readonly description: string;
  readonly trace: Trace;
  /** Set when it has ended: it is not run again. `broken`: by an error, without a `run_end`. */
  readonly end: { readonly reason: EndReason | 'broken'; readonly text: string } | undefined;
}

/** What a run waited for and what humans said to it: everything of one suspension, sub-agents included. */
export interface Suspension {
  readonly tasks: readonly PendingTask[];
  readonly questions: readonly PendingQuestion[];
  /** By call id. */
  readonly decisions: ReadonlyMap<string, ToolDecision>;
  /** By call id: one for each question of the call. */
  readonly answers: ReadonlyMap<string, readonly QuestionAnswer[]>;
}
