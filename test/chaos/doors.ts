import { status as Status } from '@grpc/grpc-js';
import { endOf, GrpcTestClient } from '../support/grpc-client.js';
import type { TestServer } from '../support/server.js';
import { readFrames } from '../support/sse-client.js';
import { pathOf, type EventItem, type RunKey } from '../support/v1-client.js';

export type Door = 'sse' | 'poll' | 'grpc';
export const DOORS: readonly Door[] = ['sse', 'poll', 'grpc'];

/** An event as one door showed it. */
export interface Seen {
  readonly door: Door;
  readonly id: number;
  readonly type: string;
  /** What the door told of it; of gRPC only id and type are kept. */
  readonly payload: unknown;
}

/** The server could not answer now and said so, or it was not there: the client tries again. */
export class Unavailable extends Error {
  /** @param saidSo true when the server answered 503 or UNAVAILABLE itself */
  constructor(
    why: string,
    readonly saidSo = false,
  ) {
    super(why);
  }
}

/** The server answered what it never may: an error that is no outage. */
export class WrongAnswer extends Error {}

/** Sends JSON and reads JSON. */
export async function request(
  server: TestServer,
  path: string,
  body: unknown,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const response = await open(server, path, signal, body);
  return JSON.parse(await unlessCut(() => response.text())) as Record<string, unknown>;
}

/** The events of a run after a cursor, by one connection; ends whenever the connection does. */
export async function* eventsBy(
  door: Door,
  server: TestServer,
  run: RunKey,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<Seen> {
  switch (door) {
    case 'sse':
      return yield* bySse(server, run, after, signal);
    case 'poll':
      return yield* byPoll(server, run, after, signal);
    case 'grpc':
      return yield* byGrpc(server, run, after, signal);
  }
}

async function* bySse(server: TestServer, run: RunKey, after: number, signal: AbortSignal): AsyncGenerator<Seen> {
  const headers = { accept: 'text/event-stream', 'last-event-id': String(after) };
  const response = await open(server, `${pathOf(run)}/events`, signal, undefined, headers);
  if (response.body === null) return;
  const frames = readFrames(response.body);
  for (;;) {
    const { value: frame } = await unlessCut(() => frames.next());
    if (frame === undefined) return;
    const payload = JSON.parse(frame.data) as unknown;
    yield { door: 'sse', id: Number(frame.id), type: frame.event ?? '', payload };
  }
}

async function* byPoll(server: TestServer, run: RunKey, after: number, signal: AbortSignal): AsyncGenerator<Seen> {
  for (let cursor = after; !signal.aborted;) {
    const response = await open(server, `${pathOf(run)}?cursor=${cursor}&limit=50&wait_ms=500`, signal);
    const page = JSON.parse(await unlessCut(() => response.text())) as { events: EventItem[]; next_cursor: number };
    for (const item of page.events) yield { door: 'poll', id: item.id, type: item.type, payload: item };
    cursor = page.next_cursor;
  }
}

async function* byGrpc(server: TestServer, run: RunKey, after: number, signal: AbortSignal): AsyncGenerator<Seen> {
  const client = new GrpcTestClient(server.grpc);
  const observe = { session_id: run.sessionId, run_id: run.runId, after_seq: String(after) };
  const stream = client.stream('observe', observe);
  const cancel = (): void => stream.cancel();
  signal.addEventListener('abort', cancel);
  try {
    for await (const event of stream as AsyncIterable<{ id: string; type: string }>) {
      yield { door: 'grpc', id: Number(event.id), type: event.type, payload: undefined };
    }
  } catch (error) {
    throw grpcFault(error);
  } finally {
    signal.removeEventListener('abort', cancel);
    stream.cancel();
    client.close();
  }
}

/** What a failed call means to a client. */
export function grpcFault(error: unknown): Error {
  const { code, details, bridleCode } = endOf(error);
  if (bridleCode === 'STORE_UNAVAILABLE' || bridleCode === 'DRAINING') return new Unavailable(details, true);
  // without the trailer it is the transport that speaks, except that a server failing outside its filters says UNKNOWN
  if (bridleCode === undefined && code !== Status.UNKNOWN) return new Unavailable(details);
  return new WrongAnswer(`gRPC ${Status[code]} ${details}`);
}

async function open(
  server: TestServer,
  path: string,
  signal: AbortSignal,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const response = await unlessCut(() =>
    fetch(`${server.http}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal,
    }),
  );
  if (response.ok) return response;
  const text = await unlessCut(() => response.text());
  if (response.status === 503 && response.headers.has('retry-after')) throw new Unavailable(text, true);
  throw new WrongAnswer(`${response.status} of ${path.split('?')[0]}: ${text}`);
}

/** A connection that breaks, or that its client gives up, is no answer at all. */
async function unlessCut<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Unavailable(error instanceof Error ? error.message : String(error));
  }
}
