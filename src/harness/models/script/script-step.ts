import type { JsonObject } from '../../../common/json.js';

/** A call of one of the script model's test tools. */
export interface TestToolCall {
  readonly name: string;
  /** How long the tool takes, milliseconds. */
  readonly ms: number;
}

/** One step of a script. */
export type ScriptStep =
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'think'; readonly text: string }
  | { readonly kind: 'stream'; readonly count: number; readonly ms: number }
  | { readonly kind: 'tools'; readonly calls: readonly TestToolCall[] }
  | { readonly kind: 'block'; readonly call: TestToolCall }
  | { readonly kind: 'call'; readonly name: string; readonly args: JsonObject | string }
  | { readonly kind: 'usage'; readonly promptTokens: number; readonly completionTokens: number }
  | { readonly kind: 'echo' }
  | { readonly kind: 'fail'; readonly code: string }
  | { readonly kind: 'throw' }
  | { readonly kind: 'crash' };
