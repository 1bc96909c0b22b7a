import type { JsonObject } from '../../common/json.js';
import type { EngineEvent } from '../../events/harness-event.js';
import type { PendingQuestion, PendingTask } from '../../events/values.js';
import { Tool, type ToolResult } from '../ports/tool.port.js';
import type { ChildTrace } from '../ports/trace.js';
import type { EngineInput } from './engine-input.js';
import type { TokenMeter } from './token-meter.js';
import type { ToolCallResult } from './tool-call.js';

/** What waits for a human inside an agent: calls to decide, questions to answer. */
export interface Waiting {
  readonly tasks: readonly PendingTask[];
  readonly questions: readonly PendingQuestion[];
}

/** Everything that waits at several places. */
export function allWaiting(waiting: readonly Waiting[]): Waiting {
  return {
    tasks: waiting.flatMap(({ tasks }) => tasks),
    questions: waiting.flatMap(({ questions }) => questions),
  };
}

/** How a call of the engine's own tools went: it has a result, or it waits with what it began. */
export type CallEnding =
  { readonly kind: 'ended'; readonly result: ToolCallResult } | { readonly kind: 'waiting'; readonly waiting: Waiting };

/** A call of one of the engine's own tools, and the run that it belongs to. */
export interface SteppedCall {
  readonly input: EngineInput;
  readonly callId: string;
  readonly reasonId: string;
  /** What the call had begun when it was suspended. */
  readonly children: readonly ChildTrace[];
  /** The tokens of the run: a sub-agent's are added. */
  readonly meter: TokenMeter;
}

/** One of the engine's own tools: what it does are events of the run, and it may wait for a human. */
export abstract class SteppedTool extends Tool {
  /**
   * Runs the call. It has no time limit of its own: the agents inside have theirs.
   * @throws the signal's reason
   */
  abstract steps(args: JsonObject, call: SteppedCall, signal: AbortSignal): AsyncGenerator<EngineEvent, CallEnding>;

  run(): Promise<ToolResult> {
    throw new Error(`${this.declaration.name} is run in steps`);
  }
}
