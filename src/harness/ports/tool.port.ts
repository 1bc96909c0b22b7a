import type { Json, JsonObject } from '../../common/json.js';
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
}

/** A text, or JSON that the model reads as text. */
export type ToolResult = string | { readonly json: Json };

/** Something the model may call. */
export abstract class Tool {
  abstract readonly declaration: ToolDeclaration;
  abstract readonly effect: ToolEffect;
  /** Milliseconds until the call is aborted with outcome `timeout`; undefined = the engine's default. */
  readonly timeoutMs?: number;

  /**
   * Runs the call. Arguments fit the declaration's schema.
   * @param signal aborts the call; obey it
   * @throws any error: it becomes the observation `outcome: error`
   */
  abstract run(args: JsonObject, context: ToolContext, signal: AbortSignal): Promise<ToolResult>;
}
