import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Tears the socket down in the middle of the answer. */
export const DESTROY = Symbol('destroy');

/** Writes nothing more and stays open. */
export const HANG = Symbol('hang');

/** Bytes to write, a pause, or an end that is none. */
export type ReplyStep = string | Uint8Array | { readonly delayMs: number } | typeof DESTROY | typeof HANG;

/** One scripted answer of the server. */
export interface Reply {
  /** Default 200. */
  readonly status?: number;
  /** Default: an event stream. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly steps: readonly ReplyStep[];
}

export interface WireMessage {
  readonly role: string;
  readonly content: unknown;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { name: string; arguments: string } }[];
  readonly tool_call_id?: string;
}

export interface RecordedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly messages: readonly WireMessage[] } & Readonly<Record<string, unknown>>;
  /** Settles when the answer is over: `sent` whole, or `cut` by the client. */
  readonly ended: Promise<'sent' | 'cut'>;
}

/** What strict providers of a wire have against a request; undefined when nothing. */
export type StrictRule = (body: RecordedRequest['body']) => string | undefined;

/**
 * A scripted model server on loopback, OpenAI-compatible unless its replies and rule say otherwise: plays one reply a
 * request and records every request. In strict mode it answers 400, as strict providers do, when tool calls and tool
 * results are not paired.
 */
export class FakeLlm {
  readonly requests: RecordedRequest[] = [];
  private readonly replies: Reply[] = [];
  private readonly server = createServer((request, response) => void this.answer(request, response));

  private constructor(private readonly rule: StrictRule) {}

  static async start(options: { readonly strict?: boolean | StrictRule } = {}): Promise<FakeLlm> {
    const { strict = false } = options;
    const paired: StrictRule = strict === true ? ({ messages }) => pairingFault(messages) : () => undefined;
    const fake = new FakeLlm(typeof strict === 'function' ? strict : paired);
    await new Promise<void>((resolve) => fake.server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  /** What goes into `baseUrl`. */
  get baseUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  /** The variables with which a server uses it as its provider. */
  get env(): Record<string, string> {
    return {
      BRIDLE_MODEL_PROVIDER: 'openai-compatible',
      BRIDLE_MODEL_BASE_URL: this.baseUrl,
      BRIDLE_MODEL_API_KEY: 'test-key',
      BRIDLE_MODEL_NAME: 'scripted-1',
    };
  }

  /** Adds replies; each request takes the next one. When none is left the answer is 500. */
  script(...replies: readonly Reply[]): void {
    this.replies.push(...replies);
  }

  /** Forgets requests and replies: the next test starts anew. */
  reset(): void {
    this.requests.length = 0;
    this.replies.length = 0;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await readAll(request)) as RecordedRequest['body'];
    const ended = new Promise<'sent' | 'cut'>((resolve) => {
      response.once('close', () => resolve(response.writableFinished ? 'sent' : 'cut'));
    });
    this.requests.push({ path: request.url ?? '', headers: request.headers, body, ended });
    const fault = this.rule(body);
    const reply = fault === undefined ? (this.replies.shift() ?? OVER) : errorReply(400, fault);
    await play(reply, response);
  }
}

async function play(reply: Reply, response: ServerResponse): Promise<void> {
  response.writeHead(reply.status ?? 200, { 'content-type': 'text/event-stream', ...reply.headers });
  response.flushHeaders();
  response.socket?.setNoDelay(true);
  for (const step of reply.steps) {
    if (response.destroyed || step === HANG) return;
    if (step === DESTROY) {
      // What was written leaves before the socket is torn down.
      await sleep(10);
      response.destroy();
    } else if (typeof step === 'string' || step instanceof Uint8Array) {
      response.write(step);
    } else {
      // A long pause must not outlive the test.
      await sleep(step.delayMs, undefined, { ref: false });
    }
  }
  response.end();
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** What a strict provider has against the history; undefined when every call has exactly its result, at once. */
export function pairingFault(messages: readonly WireMessage[]): string | undefined {
  let open = new Set<string>();
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!open.delete(message.tool_call_id ?? '')) return `tool result without its call: ${message.tool_call_id}`;
      if (typeof message.content !== 'string') return 'tool result without text';
      continue;
    }
    if (open.size > 0) return `tool calls without results: ${[...open].join(', ')}`;
    if (message.role !== 'assistant') continue;
    const calls = message.tool_calls ?? [];
    open = new Set(calls.map((call) => call.id));
    if (open.size !== calls.length) return 'two tool calls with one id';
    if (calls.length === 0 && typeof message.content !== 'string') return 'assistant message without content';
  }
  return open.size > 0 ? `tool calls without results: ${[...open].join(', ')}` : undefined;
}

/** One SSE frame. */
export const frame = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;

export const DONE = 'data: [DONE]\n\n';

const MODEL = 'scripted-1';

/** A frame with one choice. */
export function choice(delta: object, finishReason: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  return frame({ id: 'chatcmpl-1', object: 'chat.completion.chunk', model: MODEL, choices });
}

export const text = (content: string): string => choice({ content });

export const thinking = (reasoning: string): string => choice({ reasoning_content: reasoning });

/** A frame with fragments of tool calls, as given. */
export const calls = (...fragments: readonly object[]): string => choice({ tool_calls: fragments });

export const finish = (reason: string): string => choice({}, reason);

/** The usage frame, which has no choices. */
export const usage = (input: number, output: number, cached = 0): string =>
  frame({
    model: MODEL,
    choices: [],
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: cached },
    },
  });

/** A whole answer in pieces of text. */
export const answerReply = (...pieces: readonly string[]): Reply => ({
  steps: [...pieces.map(text), finish('stop'), usage(10, 5), DONE],
});

/** A whole answer that calls one tool. */
export const callReply = (name: string, args: object, id = 'call_1'): Reply => ({
  steps: [
    calls({ index: 0, id, type: 'function', function: { name, arguments: JSON.stringify(args) } }),
    finish('tool_calls'),
    usage(10, 5),
    DONE,
  ],
});

export const errorReply = (status: number, message: string, headers: Record<string, string> = {}): Reply => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  steps: [JSON.stringify({ error: { message } })],
});

const OVER: Reply = errorReply(500, 'the script is over');
