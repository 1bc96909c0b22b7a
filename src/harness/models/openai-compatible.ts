import { createParser } from 'eventsource-parser';
import { ChatModel, ProviderError, type ChatEvent, type ChatRequest } from '../ports/chat-model.port.js';
import { AnswerReader } from './openai-compatible/answer-reader.js';
import { toRequestBody } from './openai-compatible/request-body.js';
import { thinkingFieldAfter, type ThinkingField } from './openai-compatible/thinking-field.js';
import {
  headerOf,
  isSuccess,
  ProviderCall,
  type ProviderLink,
  type ProviderResponse,
} from './provider/provider-call.js';
import { badFrame, httpError } from './provider/provider-faults.js';

/** Largest frame, and largest answer that comes without a stream, in characters. */
const MAX_FRAME_CHARS = 8 * 1024 * 1024;

/** How a server is reached, and what its model can do. */
export interface OpenAiCompatibleOptions extends ProviderLink {
  /** The provider's name of the model. */
  readonly name: string;
  /** E.g. `https://api.example.com/v1`; requests go to `<baseUrl>/chat/completions`. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly acceptsPictures: boolean;
}

/** Any server that speaks OpenAI's chat completions: streams answers, forgives the wire's many spellings. */
export class OpenAiCompatibleModel extends ChatModel {
  readonly name: string;
  readonly acceptsPictures: boolean;
  private readonly url: string;
  private readonly headers: Readonly<Record<string, string>>;
  private thinkingField: ThinkingField = 'where_known';

  constructor(private readonly options: OpenAiCompatibleOptions) {
    super();
    this.name = options.name;
    this.acceptsPictures = options.acceptsPictures;
    this.url = `${options.baseUrl.replace(/\/+$/, '')}/chat/completions`;
    this.headers = {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...(options.apiKey !== undefined && { authorization: `Bearer ${options.apiKey}` }),
    };
  }

  async *stream(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    signal.throwIfAborted();
    const call = new ProviderCall(this.options, signal);
    const reader = new AnswerReader();
    try {
      const response = await this.ask(request, call);
      for await (const frames of framesOf(response, call)) {
        for (const data of frames) if (!reader.isEnded) yield* reader.push(data);
        if (reader.isEnded) break;
        if (reader.isWhole) call.settle();
      }
    } catch (error) {
      const fault = call.toProviderError(error);
      // Once the finish mark is there, a silent or broken connection takes nothing away.
      if (!reader.isWhole || (error instanceof ProviderError && error.fault !== 'timeout')) throw fault;
    } finally {
      call.close(reader.isEnded);
    }
    yield* reader.end();
  }

  /** The beginning of a good answer. What the provider wants to hear of old thinking is learnt from its refusal. */
  private async ask(request: ChatRequest, call: ProviderCall): Promise<ProviderResponse> {
    for (;;) {
      const tried = this.thinkingField;
      const body = JSON.stringify(await toRequestBody(this.name, request, tried));
      const response = await call.post(this.url, this.headers, body);
      if (isSuccess(response)) return response;
      const refusal = await call.text(response);
      const other = thinkingFieldAfter(tried, request, refusal);
      if (other === undefined) throw httpError(response.statusCode, response.headers, refusal);
      this.thinkingField = other;
    }
  }
}

/** The data of the frames, as they arrive together; an answer that is no event stream is one frame and its end. */
async function* framesOf(response: ProviderResponse, call: ProviderCall): AsyncGenerator<readonly string[]> {
  if (headerOf(response, 'content-type').includes('application/json')) {
    yield [await call.text(response, MAX_FRAME_CHARS)];
    return;
  }
  let waiting: string[] = [];
  const parser = createParser({
    maxBufferSize: MAX_FRAME_CHARS,
    onEvent: ({ event, data }) => waiting.push(event === 'error' ? JSON.stringify({ error: data }) : data),
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') throw badFrame(error);
    },
  });
  const decoder = new TextDecoder();
  for await (const bytes of call.pieces(response)) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    if (waiting.length === 0) continue;
    yield waiting;
    waiting = [];
  }
}
