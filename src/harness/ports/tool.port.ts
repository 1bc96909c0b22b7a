import type { Json, JsonObject } from '../../common/json.js';
import type { Question, QuestionAnswer } from '../../events/values.js';
import type { ToolDeclaration } from './chat-model.port.js';

/** What a repeated call may do to the world (durability §4). */
export type ToolEffect = 'read_only' | 'idempotent' | 'verifiable' | 'unsafe';

/** What a tool may know of the run that calls it. */
export interface ToolContext {
  readonly runId: string;
  readonly sessionId: string;
  readonly agentName: string;
  readonly callId: string;
  /** `tool:<callId>`: stable across attempts, the idempotency key of an external effect. */
  readonly stepKey: string;
  /** Which attempt of the run this is, from 1. */
  readonly attempt: number;
  /** What the host gives to every tool of the run and no model can see or set, e.g. `__cwd`. */
  readonly values: JsonObject;
}

/** A text, or JSON that the model reads as text. */
export type ToolResult = string | { readonly json: Json };

/** Something the model may call. */
export abstract class Tool {
  abstract readonly declaration: ToolDeclaration;
  abstract readonly effect: ToolEffect;
  /** Milliseconds until the call is aborted with outcome `timeout`; undefined = the engine's default. */
  readonly timeoutMs?: number;
  /** True: runs beside the other calls of its turn, whatever its effect. */
  readonly isParallel?: boolean;
  /** True: when all calls of a turn are so and went well, their texts are the answer and the model is not asked again. */
  readonly returnsDirectly?: boolean;

  /**
   * Runs the call. Arguments fit the declaration's schema.
   * @param signal aborts the call; obey it
   * @throws any error: it becomes the observation `outcome: error`
   */
  abstract run(args: JsonObject, context: ToolContext, signal: AbortSignal): Promise<ToolResult>;
}

/** A tool that asks the user: its call waits for the answers, which are its result. */
export abstract class AskingTool extends Tool {
  /** The questions of a call, in order. */
  abstract questionsOf(args: JsonObject): readonly Question[];

  /** What the model reads once everything was answered. */
  abstract resultOf(answers: readonly QuestionAnswer[]): ToolResult;

  run(): Promise<ToolResult> {
    throw new Error(`${this.declaration.name} is answered by the user, not run`);
  }
}
