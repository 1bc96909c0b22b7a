import { createParser, type EventSourceParser } from 'eventsource-parser';
import { request as send, type Dispatcher } from 'undici';
import { ChatModel, ProviderError, type ChatEvent, type ChatRequest } from '../ports/chat-model.port.js';
import { AnswerReader, cutError } from './openai-compatible/answer-reader.js';
import { badFrame } from './openai-compatible/chunk.js';
import { httpError, MAX_ERROR_BYTES } from './openai-compatible/provider-faults.js';
import { toRequestBody } from './openai-compatible/request-body.js';
import { thinkingFieldAfter, type ThinkingField } from './openai-compatible/thinking-field.js';
import { Watchdog } from './openai-compatible/watchdog.js';

/** Largest frame, and largest answer that comes without a stream, in characters. */
const MAX_FRAME_CHARS = 8 * 1024 * 1024;

/** After the end mark the connection is read empty for so long, so that it can be used again, milliseconds. */
const DRAIN_MS = 1000;

/** How a server is reached, and how long it may be silent. */
export interface OpenAiCompatibleOptions {
  /** The provider's name of the model. */
  readonly name: string;
  /** E.g. `https://api.example.com/v1`; requests go to `<baseUrl>/chat/completions`. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly dispatcher: Dispatcher;
  /** Longest wait from the request to the first byte of the answer, milliseconds. */
  readonly firstByteMs: number;
  /** Longest silence inside an answer, milliseconds. */
  readonly idleMs: number;
  readonly acceptsPictures: boolean;
}

type Response = Dispatcher.ResponseData;

/** Any server that speaks OpenAI's chat completions: streams answers, forgives the wire's many spellings. */
export class OpenAiCompatibleModel extends ChatModel {
  readonly name: string;
  readonly acceptsPictures: boolean;
  private thinkingField: ThinkingField = 'where_known';

  constructor(private readonly options: OpenAiCompatibleOptions) {
    super();
    this.name = options.name;
    this.acceptsPictures = options.acceptsPictures;
  }

  async *stream(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    signal.throwIfAborted();
    const watchdog = new Watchdog(signal);
    const reader = new AnswerReader();
    let response: Response | undefined;
    try {
      response = await this.ask(request, watchdog);
      for await (const data of this.frames(response, watchdog)) {
        yield* reader.push(data);
        if (reader.isEnded) break;
      }
    } catch (error) {
      signal.throwIfAborted();
      // Once the finish mark is there, a silent or broken connection takes nothing away.
      if (!reader.isWhole || (error instanceof ProviderError && error.fault !== 'timeout')) {
        throw toProviderError(error, watchdog, response !== undefined);
      }
    } finally {
      if (reader.isEnded && response !== undefined) {
        watchdog.rest();
        response.body.dump({ limit: MAX_FRAME_CHARS, signal: AbortSignal.timeout(DRAIN_MS) }).catch(() => undefined);
      } else {
        watchdog.stop();
      }
    }
    yield* reader.end();
  }

  /** The beginning of a good answer. What the provider wants to hear of old thinking is learnt from its refusal. */
  private async ask(request: ChatRequest, watchdog: Watchdog): Promise<Response> {
    for (;;) {
      const tried = this.thinkingField;
      const body = JSON.stringify(await toRequestBody(this.name, request, tried));
      watchdog.signal.throwIfAborted();
      watchdog.watch(this.options.firstByteMs);
      const response = await this.post(body, watchdog);
      if (response.statusCode >= 200 && response.statusCode < 300) return response;
      const refusal = await this.readText(response, watchdog, MAX_ERROR_BYTES);
      const other = thinkingFieldAfter(tried, request, refusal);
      if (other === undefined) throw httpError(response.statusCode, response.headers, refusal);
      this.thinkingField = other;
    }
  }

  private async post(body: string, watchdog: Watchdog): Promise<Response> {
    const { baseUrl, apiKey, dispatcher } = this.options;
    const response = await send(`${baseUrl.replace(/\/+$/, '')}/chat/completions`, {
      dispatcher,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      },
      body,
      signal: watchdog.signal,
      // The watchdog is finer than undici's own timers.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    // Whoever reads the body hears of its errors; one that nobody reads must not end the process.
    response.body.on('error', () => undefined);
    return response;
  }

  /** The data of each frame; an answer that is no event stream is one frame and its end. */
  private async *frames(response: Response, watchdog: Watchdog): AsyncGenerator<string> {
    if (String(response.headers['content-type'] ?? '').includes('application/json')) {
      yield await this.readText(response, watchdog, MAX_FRAME_CHARS);
      return;
    }
    const waiting: string[] = [];
    const parser: EventSourceParser = createParser({
      maxBufferSize: MAX_FRAME_CHARS,
      onEvent: ({ event, data }) => waiting.push(event === 'error' ? JSON.stringify({ error: data }) : data),
      onError: (error) => {
        if (error.type === 'max-buffer-size-exceeded') throw badFrame(error);
      },
    });
    for await (const text of this.pieces(response, watchdog)) {
      parser.feed(text);
      yield* waiting.splice(0);
    }
  }

  private async readText(response: Response, watchdog: Watchdog, maxChars: number): Promise<string> {
    let text = '';
    for await (const piece of this.pieces(response, watchdog)) {
      text += piece;
      if (text.length >= maxChars) break;
    }
    return text.slice(0, maxChars);
  }

  /** The decoded body piece by piece; silence counts only while a piece is waited for. */
  private async *pieces(response: Response, watchdog: Watchdog): AsyncGenerator<string> {
    const decoder = new TextDecoder();
    for await (const bytes of response.body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      watchdog.rest();
      yield decoder.decode(bytes, { stream: true });
      watchdog.watch(this.options.idleMs);
    }
    watchdog.rest();
    yield decoder.decode();
  }
}

function toProviderError(error: unknown, watchdog: Watchdog, isAnswering: boolean): ProviderError {
  if (error instanceof ProviderError) return error;
  if (watchdog.timeout !== undefined) return watchdog.timeout;
  if (isAnswering) return cutError(error);
  return new ProviderError('the model could not be reached', 'connection', { retryable: true, cause: error });
}
