import type { FinishReason } from '../../../src/events/values.js';
import type { ProviderLink } from '../../../src/harness/models/provider/provider-call.js';
import type { ChatModel } from '../../../src/harness/ports/chat-model.port.js';
import type { Reply, ReplyStep } from '../fake-llm.js';

/** A tool call that a fake provider makes; its arguments arrive in these pieces. */
export interface WireCall {
  readonly id: string;
  readonly name: string;
  readonly args: readonly string[];
}

/** What a fake provider answers. */
export interface WireAnswer {
  readonly thinking?: readonly string[];
  readonly text?: readonly string[];
  readonly calls?: readonly WireCall[];
  /** Default: `tool_calls` with calls, else `stop`. */
  readonly finish?: Exclude<FinishReason, 'other'>;
  /** Input tokens (cached ones among them), cached input tokens, output tokens; absent = the provider tells none. */
  readonly usage?: { readonly input: number; readonly cached: number; readonly output: number };
}

/** What a request said, whatever its wire. */
export interface SaidMessage {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly text?: string;
  /** Media type and base64 of each. */
  readonly pictures?: readonly string[];
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly args: unknown }[];
  readonly results?: readonly { readonly id: string; readonly text: string }[];
}

export interface Said {
  readonly model: string;
  readonly system: string;
  readonly messages: readonly SaidMessage[];
  readonly tools: readonly string[];
  /** The header by which the key travels. */
  readonly key: string | undefined;
}

export interface WireRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** One provider's wire in tests: the adapter that speaks it, and the words of its fake. */
export interface ModelWire {
  readonly name: string;
  /** A model of that wire. */
  model(link: ProviderLink & { readonly baseUrl: string; readonly apiKey: string }): ChatModel;
  /** The frames of an answer up to, and without, its finish mark. */
  begin(answer: WireAnswer): readonly string[];
  /** The frames from the finish mark on. */
  end(answer: WireAnswer): readonly string[];
  /** A refusal with a status, in the wire's own words. */
  refusal(status: number, message: string, headers?: Readonly<Record<string, string>>): Reply;
  /** A frame that reports an error with this status inside a stream. */
  reported(status: number, message: string): string;
  /** The answer to a request that the provider's safety rules forbid, before any text. */
  blocked(): readonly string[];
  /** What a strict provider has against the request; undefined when nothing. */
  faultOf(body: unknown): string | undefined;
  said(request: WireRequest): Said;
  /** False: the wire sends arguments whole, and no id of a call. */
  readonly splitsArguments: boolean;
}

export const wholeAnswer = (wire: ModelWire, answer: WireAnswer): Reply => ({
  steps: [...wire.begin(answer), ...wire.end(answer)] satisfies ReplyStep[],
});

export const finishOf = ({ finish, calls }: WireAnswer): Exclude<FinishReason, 'other'> =>
  finish ?? ((calls ?? []).length > 0 ? 'tool_calls' : 'stop');
