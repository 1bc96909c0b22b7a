import type { JsonObject } from '../../common/json.js';
import type { FinishReason, TokenCounts } from '../../events/values.js';

/** A picture as the model gets it: scaled to the model's limit when it was larger. */
export interface ModelPicture {
  readonly mimeType: string;
  readonly bytes: Uint8Array;
  /** SHA-256 (hex) of exactly these bytes. */
  readonly sha256: string;
  readonly width: number;
  readonly height: number;
}

/** A piece of a user's message. */
export type ChatPart =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'image';
      readonly index: number;
      /** SHA-256 (hex) of the stored picture. */
      readonly sha256: string;
      readonly mimeType: string;
      readonly width: number;
      readonly height: number;
      /** Reads and scales the picture; called only by the adapter that sends it. */
      load(): Promise<ModelPicture>;
    };

/** A tool call as the model made it. */
export interface ChatToolCall {
  /** The model's own id of the call. */
  readonly id: string;
  readonly name: string;
  /** An object, or the raw text when the model sent something else. */
  readonly args: JsonObject | string;
}

/** One message of a conversation, without the system prompt. */
export type ChatMessage =
  | {
      readonly role: 'user';
      readonly parts: readonly ChatPart[];
      /** True when the harness wrote it: the request to mend a bad answer. */
      readonly fromHarness?: boolean;
    }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly thinking?: string;
      readonly toolCalls: readonly ChatToolCall[];
      /** The run that said it; the `script` model counts its own turns by it. */
      readonly runId?: string;
    }
  | {
      readonly role: 'tool';
      readonly callId: string;
      readonly toolName: string;
      readonly text: string;
      readonly isError: boolean;
    };

/** A tool as the model is told of it. */
export interface ToolDeclaration {
  readonly name: string;
  readonly description: string;
  /** JSON schema (2020-12) of the arguments. */
  readonly parameters: JsonObject;
}

/** What a model is asked. */
export interface ChatRequest {
  readonly runId: string;
  readonly agentName: string;
  readonly system: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDeclaration[];
  /** `zh` or `en`: the language of fixed texts. */
  readonly language: 'zh' | 'en';
  /** Set in a vision run: the result must be the four keys (contract runs §2.4). */
  readonly resultShape?: 'text' | 'vision' | 'schema';
}

/**
 * What a model yields, in order. A `tool_call` is whole and comes only after the provider's finish mark;
 * `finish` is the last event of a good stream.
 */
export type ChatEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  | { readonly type: 'tool_call'; readonly call: ChatToolCall }
  | {
      readonly type: 'finish';
      readonly finishReason: FinishReason;
      readonly usage?: TokenCounts;
      /** The model's name as the provider reports it. */
      readonly modelVersion?: string;
      /** A human sentence when the provider refused or cut the answer. */
      readonly note?: string;
    };

/** A language model. */
export abstract class ChatModel {
  /** The name in use, for logs and `/version`. */
  abstract readonly name: string;
  /** False: a request with pictures ends the run as `MODEL_LACKS_VISION`. */
  abstract readonly acceptsPictures: boolean;

  /**
   * Streams one answer.
   * @param signal aborting it closes the provider's connection at once and ends the stream with its reason
   * @throws ProviderError for everything the provider does wrong, a cut stream included
   */
  abstract stream(request: ChatRequest, signal: AbortSignal): AsyncIterable<ChatEvent>;
}

/** What went wrong; `no_pictures`: the provider refused the request for its pictures. */
export type ProviderFault =
  'http' | 'connection' | 'timeout' | 'cut' | 'overflow' | 'no_pictures' | 'bad_frame' | 'other';

/** A failing provider. `message` is safe for clients: no provider body, no host. */
export class ProviderError extends Error {
  constructor(
    message: string,
    readonly fault: ProviderFault,
    readonly options: {
      readonly status?: number;
      /** What the provider asked for, by `Retry-After` and its kin; milliseconds. */
      readonly retryAfterMs?: number;
      /** The provider's own id of the request, for logs. */
      readonly requestId?: string;
      readonly retryable: boolean;
      readonly cause?: unknown;
    },
  ) {
    super(message, { cause: options.cause });
    this.name = 'ProviderError';
  }
}
