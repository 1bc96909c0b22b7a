import type { LanguageModelV3, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { ChatModel, ProviderError, type ChatEvent, type ChatRequest } from '../../ports/chat-model.port.js';
import { ProviderCall, type ProviderLink } from '../provider/provider-call.js';
import { badFrame, reportedError } from '../provider/provider-faults.js';
import { CallFetch } from './call-fetch.js';
import { PartReader, type FrameFacts } from './part-reader.js';
import { toPrompt, toTools } from './prompt.js';

/** How a model is reached by the SDK. */
export interface SdkSettings {
  /** The provider's name of the model. */
  readonly name: string;
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** A model of the SDK that sends its requests by the given `fetch`. */
export type SdkModelMaker = (settings: SdkSettings & { readonly fetch: typeof globalThis.fetch }) => LanguageModelV3;

/** One provider of the SDK. */
export interface SdkProvider {
  /** Loads the package, which is optional. */
  load(): Promise<SdkModelMaker>;
  /** Reads what the SDK does not tell from a frame of the provider's wire. */
  factsOf(frame: unknown): FrameFacts;
}

export interface AiSdkOptions extends ProviderLink, SdkSettings {
  readonly provider: SdkProvider;
}

/**
 * A provider with a wire of its own, by the AI SDK at its lowest level: the SDK translates, everything else (sending,
 * time limits, errors, retries, when a tool call counts) is ours.
 */
export class AiSdkModel extends ChatModel {
  readonly name: string;
  readonly acceptsPictures = true;
  private maker: Promise<SdkModelMaker> | undefined;

  constructor(private readonly options: AiSdkOptions) {
    super();
    this.name = options.name;
  }

  async *stream(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    signal.throwIfAborted();
    const call = new ProviderCall(this.options, signal);
    const way = new CallFetch(call);
    const reader = new PartReader((frame) => this.options.provider.factsOf(frame));
    try {
      const parts = await this.ask(request, call, way);
      for await (const part of parts) {
        yield* reader.push(part);
        if (!reader.isWhole) continue;
        if (reader.isEnded) break;
        way.isWhole = true;
        call.settle();
      }
    } catch (error) {
      throw call.toProviderError(way.fault ?? toFault(error));
    } finally {
      call.close(reader.isWhole);
    }
    yield* reader.end();
  }

  private async ask(
    request: ChatRequest,
    call: ProviderCall,
    { fetch }: CallFetch,
  ): Promise<AsyncIterable<LanguageModelV3StreamPart>> {
    this.maker ??= this.options.provider.load();
    const { name, baseUrl, apiKey } = this.options;
    const model = (await this.maker)({ name, baseUrl, apiKey, fetch });
    const tools = toTools(request.tools);
    const { stream } = await model.doStream({
      prompt: await toPrompt(request),
      ...(tools.length > 0 && { tools }),
      includeRawChunks: true,
      abortSignal: call.signal,
    });
    return stream as AsyncIterable<LanguageModelV3StreamPart>;
  }
}

/** An error of the SDK's own: it read a frame that reports one, or could not read a frame. */
function toFault(error: unknown): unknown {
  if (error instanceof ProviderError) return error;
  const { responseBody } = error as { responseBody?: unknown };
  if (typeof responseBody !== 'string') return badFrame(error);
  try {
    const body = JSON.parse(responseBody) as { error?: unknown };
    return reportedError(body.error ?? body);
  } catch {
    return badFrame(error);
  }
}
