import { randomUUID } from 'node:crypto';
import { readSse, type SseFrame, type SseRequest } from './sse-client.js';

/** One run of one session. */
export interface RunKey {
  readonly sessionId: string;
  readonly runId: string;
}

/** An event as the poll page shows it. */
export interface EventItem extends Readonly<Record<string, unknown>> {
  readonly id: number;
  readonly type: string;
}

/** The poll page, as far as tests look at it. */
export interface RunState extends Readonly<Record<string, unknown>> {
  readonly status: string;
  readonly code: string;
  readonly attempt: number;
  readonly events: readonly EventItem[];
  readonly next_cursor: number;
  readonly has_more: boolean;
  readonly result: { readonly type: string; readonly data: Readonly<Record<string, unknown>> } | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** What an HTTP call answered. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // Tests look into JSON of many shapes.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
}

const TERMINAL = ['completed', 'failed', 'cancelled', 'expired'];
const END_MS = 60_000;

/** The door `/v1` of a running server, in the words of its contract. */
export class V1Client {
  /** @param server asked for its URL at each call: it changes with a restart */
  constructor(
    private readonly server: { readonly http: string },
    private readonly headers: Readonly<Record<string, string>> = {},
  ) {}

  /** Sends JSON, or bytes as they are; reads JSON, or text where the answer is none. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const isJson = body !== undefined && !(body instanceof Uint8Array) && !(body instanceof FormData);
    const response = await fetch(`${this.server.http}${path}`, {
      method,
      headers: { ...(isJson && { 'content-type': 'application/json' }), ...this.headers, ...headers },
      ...(body !== undefined && { body: isJson ? JSON.stringify(body) : (body as NonNullable<RequestInit['body']>) }),
    });
    const text = await response.text();
    const holdsJson = (response.headers.get('content-type') ?? '').includes('json');
    return { status: response.status, headers: response.headers, body: holdsJson ? JSON.parse(text) : text };
  }

  /** Makes a session of the agent `harness_agent`, whose answers are text; its id. */
  async session(body: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const { status, body: session } = await this.call('POST', '/v1/sessions', { agent: 'harness_agent', ...body });
    if (status !== 201) throw new Error(`no session: ${status} ${JSON.stringify(session)}`);
    return session.id as string;
  }

  /** The body of a message. */
  message(sessionId: string, text: string, more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
    return { session_id: sessionId, request_id: randomUUID(), action: 'message', text, ...more };
  }

  /** Sends a message whose run goes on by itself. */
  async send(sessionId: string, text: string, more: Readonly<Record<string, unknown>> = {}): Promise<RunKey> {
    const { status, body } = await this.call('POST', '/v1/actions', this.message(sessionId, text, more));
    if (status !== 202) throw new Error(`not accepted: ${status} ${JSON.stringify(body)}`);
    return { sessionId, runId: body.run_id as string };
  }

  cancel(sessionId: string): Promise<Answer> {
    return this.call('POST', '/v1/actions', { session_id: sessionId, request_id: randomUUID(), action: 'cancel' });
  }

  /** Sends a message and reads its flat stream to the end, or up to a frame. */
  stream(body: unknown, request: SseRequest = {}, until?: (frame: SseFrame) => boolean): Promise<SseFrame[]> {
    return readSse(`${this.server.http}/v1/actions`, { ...this.with(request), body }, until);
  }

  /** Reads the envelope stream of a run to its end, or up to a frame. */
  follow(run: RunKey, request: SseRequest = {}, until?: (frame: SseFrame) => boolean): Promise<SseFrame[]> {
    return readSse(`${this.server.http}${pathOf(run)}/events`, this.with(request), until);
  }

  async page(run: RunKey, query = 'limit=1'): Promise<RunState> {
    const { status, body } = await this.call('GET', `${pathOf(run)}?${query}`);
    if (status !== 200) throw new Error(`no page: ${status} ${JSON.stringify(body)}`);
    return body as RunState;
  }

  /** All events of a run so far, page by page. */
  async events(run: RunKey): Promise<EventItem[]> {
    const events: EventItem[] = [];
    for (;;) {
      const page = await this.page(run, `cursor=${events.length}&limit=500`);
      events.push(...page.events);
      if (!page.has_more) return events;
    }
  }

  /** Waits until the run is over. */
  async ended(run: RunKey): Promise<RunState> {
    return this.until(run, (state) => TERMINAL.includes(state.status));
  }

  /** Waits until the run is as asked. */
  async until(run: RunKey, isReached: (state: RunState) => boolean): Promise<RunState> {
    const deadlineMs = Date.now() + END_MS;
    for (let cursor = 0; ;) {
      const state = await this.page(run, `cursor=${cursor}&limit=500&wait_ms=1000`);
      if (isReached(state)) return state;
      if (Date.now() > deadlineMs) throw new Error(`the run is still ${state.status}/${state.code}`);
      cursor = state.next_cursor;
    }
  }

  async snapshot(sessionId: string, query = 'events=0'): Promise<Answer['body']> {
    return (await this.call('GET', `/v1/sessions/${sessionId}?${query}`)).body;
  }

  private with(request: SseRequest): SseRequest {
    return { ...request, headers: { ...this.headers, ...request.headers } };
  }
}

/** The path of a run. */
export const pathOf = ({ sessionId, runId }: RunKey): string => `/v1/sessions/${sessionId}/runs/${runId}`;

/** The ids of frames, as numbers. */
export const idsOf = (frames: readonly SseFrame[]): number[] => frames.map((frame) => Number(frame.id));

/** 1, 2, 3 … n. */
export const upTo = (n: number): number[] => Array.from({ length: n }, (_, index) => index + 1);
