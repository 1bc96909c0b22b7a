import { jest } from '@jest/globals';
import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Caller } from '../../../src/auth/caller.decorator.js';
import type { Principal } from '../../../src/auth/principal.js';
import type { AppError } from '../../../src/common/app-error.js';
import { DialectErrors, type HttpFailure } from '../../../src/transport/http/dialect-errors.js';
import { OpenStreams } from '../../../src/transport/http/open-streams.js';
import { SseStream } from '../../../src/transport/http/sse-stream.js';
import { aConfig } from '../../support/test-config.js';
import { bootHttp, type HttpApp } from '../../support/http-app.js';
import { rawConnect, rawExchange, readAll } from '../../support/raw-http.js';

class PlainErrors extends DialectErrors {
  owns(): boolean {
    return true;
  }
  toFailure(error: AppError): HttpFailure {
    return { status: error.http, body: { reason: error.reason } };
  }
}

/** Small ones, one that is larger than a piece, and small ones again. */
const FRAMES = [8, 20_000, 4].flatMap((size, group) =>
  Array.from({ length: size > 100 ? 1 : 50 }, (_unused, id) => `id: ${group}-${id}\ndata: ${'x'.repeat(size)}\n\n`),
);

/** What the stream of the newest call did. */
interface Trace {
  sent: number;
  stream?: SseStream;
  done: Promise<void>;
}

let trace: Trace = { sent: 0, done: Promise.resolve() };

@Controller()
class StreamController {
  constructor(private readonly streams: OpenStreams) {}

  @Get('stream')
  open(
    @Res({ passthrough: true }) reply: FastifyReply,
    @Caller() owner: Principal,
    @Query() query: { frames?: string; size?: string; ping?: string; stay?: string },
  ): Promise<void> {
    const mine: Trace = { sent: 0, done: Promise.resolve() };
    trace = mine;
    mine.done = this.write(reply, owner, query, mine);
    return mine.done;
  }

  private async write(
    reply: FastifyReply,
    owner: Principal,
    query: { frames?: string; size?: string; ping?: string; stay?: string },
    mine: Trace,
  ): Promise<void> {
    const pingMs = Number(query.ping ?? 0);
    const sse = SseStream.open(reply, { pingMs, registry: this.streams, owner, headers: { 'x-extra': 'yes' } });
    mine.stream = sse;
    const data = 'x'.repeat(Number(query.size ?? 1));
    for (let id = 1; id <= Number(query.frames ?? 1) && !sse.signal.aborted; id += 1) {
      await sse.send(`id: ${id}\ndata: ${data}\n\n`);
      mine.sent = id;
    }
    if (query.stay !== undefined) await untilAborted(sse.signal);
    await sse.end();
  }

  @Get('together')
  async together(@Res({ passthrough: true }) reply: FastifyReply, @Caller() owner: Principal): Promise<void> {
    const sse = SseStream.open(reply, { pingMs: 0, registry: this.streams, owner });
    trace = { sent: 0, stream: sse, done: Promise.resolve() };
    const write = jest.spyOn(reply.raw, 'write');
    await sse.sendAll(FRAMES);
    trace.sent = write.mock.calls.length;
    await sse.end();
  }

  @Get('broken')
  broken(@Req() _request: unknown, @Res({ passthrough: true }) reply: FastifyReply): void {
    reply.hijack();
    throw new Error('before the first byte');
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve());
  });
}

async function eventually(check: () => boolean): Promise<void> {
  for (let wait = 0; wait < 200 && !check(); wait += 1) await sleep(25);
  expect(check()).toBe(true);
}

const boot = (variables: Record<string, string> = {}) =>
  bootHttp({ config: aConfig(variables), dialects: [PlainErrors], controllers: [StreamController] });

const GET = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;

describe('SseStream', () => {
  let server: HttpApp;
  let streams: OpenStreams;
  beforeAll(async () => {
    server = await boot({ BRIDLE_OBSERVERS_MAX_PER_PROCESS: '3' });
    streams = server.app.get(OpenStreams);
  });
  afterAll(() => server.close());
  afterEach(() => eventually(() => streams.size === 0));

  it('sends the head of an event stream, the frames as they are, and then ends', async () => {
    const response = await fetch(`${server.url}/stream?frames=2`);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-extra': 'yes',
      'x-content-type-options': 'nosniff',
    });
    expect(await response.text()).toBe('id: 1\ndata: x\n\nid: 2\ndata: x\n\n');
    await trace.done;
    expect(trace.stream?.isClientGone).toBe(false);
  });

  it('joins frames that are there together, in their order, into a few writes', async () => {
    const body = await (await fetch(`${server.url}/together`)).text();
    expect(body).toBe(FRAMES.join(''));
    expect(trace.sent).toBe(3);
  });

  it('writes a comment without an id after silence', async () => {
    const socket = await rawConnect(server.port);
    const text = readAll(socket, (all) => (all.match(/: ping/g) ?? []).length >= 2);
    socket.write(GET('/stream?ping=40&stay=1'));
    expect(await text).toMatch(/id: 1\ndata: x\n\n[^:]*: ping\n\n[^:]*: ping\n\n/);
    socket.destroy();
  });

  it('waits for a reader that does not read, holding a bounded part of the stream', async () => {
    const socket = await rawConnect(server.port);
    socket.pause();
    socket.write(GET('/stream?frames=200000&size=1000'));
    await eventually(() => trace.sent > 0);
    let before = -1;
    while (trace.sent !== before) {
      before = trace.sent;
      await sleep(200);
    }
    // The kernel's buffers of both sockets take a few MiB of the 200 MB.
    expect(trace.sent).toBeLessThan(20_000);
    const other = await fetch(`${server.url}/stream?frames=100&size=1000`);
    expect((await other.text()).length).toBeGreaterThan(100_000);
    socket.destroy();
    await trace.done;
  });

  it('goes on when the reader reads again, without loss', async () => {
    const socket = await rawConnect(server.port);
    socket.pause();
    socket.write(GET('/stream?frames=10000&size=1000'));
    await eventually(() => trace.sent > 100);
    await sleep(300);
    expect(trace.sent).toBeLessThan(10_000);
    const reading = readAll(socket, (all) => all.endsWith('0\r\n\r\n'));
    socket.resume();
    const ids = [...(await reading).matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]));
    expect(ids).toEqual(Array.from({ length: 10_000 }, (_, index) => index + 1));
    socket.destroy();
  });

  it('tells when the reader leaves, also while a frame waits', async () => {
    for (const path of ['/stream?stay=1', '/stream?frames=200000&size=1000']) {
      const socket = await rawConnect(server.port);
      socket.pause();
      socket.write(GET(path));
      await eventually(() => streams.size === 1);
      await sleep(100);
      socket.destroy();
      await eventually(() => streams.size === 0);
      await trace.done;
      expect(trace.stream?.isClientGone).toBe(true);
    }
  });

  it('refuses one stream too many before the first byte, and takes the next when a place is free', async () => {
    const open = await Promise.all([1, 2, 3].map(() => rawConnect(server.port)));
    for (const socket of open) socket.write(GET('/stream?stay=1'));
    await eventually(() => streams.size === 3);
    const refused = await fetch(`${server.url}/stream`);
    expect([refused.status, await refused.json()]).toEqual([429, { reason: 'TOO_MANY_STREAMS' }]);
    expect(refused.headers.get('content-type')).toMatch(/^application\/json/);
    for (const socket of open) socket.destroy();
    await eventually(() => streams.size === 0);
    expect((await fetch(`${server.url}/stream`)).status).toBe(200);
  });

  it('answers with an error when a handler took the response over and failed before the first byte', async () => {
    const response = await fetch(`${server.url}/broken`);
    expect([response.status, await response.json()]).toEqual([500, { reason: 'INTERNAL' }]);
  });
});

describe('OpenStreams', () => {
  it('counts each caller by itself in mode key', async () => {
    const entry = (name: string) => `${name}:${createHash('sha256').update(name).digest('hex')}:acme:${name}`;
    const server = await boot({
      BRIDLE_AUTH_MODE: 'key',
      BRIDLE_AUTH_KEYS: `${entry('ann')},${entry('bob')}`,
      BRIDLE_OBSERVERS_MAX_PER_PRINCIPAL: '1',
    });
    const abort = new AbortController();
    const open = (name: string) =>
      fetch(`${server.url}/stream?stay=1`, {
        headers: { authorization: `Bearer ${name}` },
        signal: abort.signal,
      });
    expect((await open('ann')).status).toBe(200);
    expect((await open('ann')).status).toBe(429);
    expect((await open('bob')).status).toBe(200);
    abort.abort();
    await server.close();
  });

  it('ends every stream when the server stops, a stalled one too', async () => {
    const server = await boot();
    const stalled = await rawConnect(server.port);
    stalled.pause();
    stalled.write(GET('/stream?frames=200000&size=1000'));
    const reading = rawExchange(server.port, GET('/stream?stay=1'));
    const streams = server.app.get(OpenStreams);
    await eventually(() => streams.size === 2);
    const start = performance.now();
    await server.close();
    expect(performance.now() - start).toBeLessThan(5000);
    expect(await reading).toMatch(/id: 1\ndata: x\n\n\r\n0\r\n\r\n$/);
    expect(() => streams.reserve()).toThrow('the server is stopping');
    stalled.destroy();
  });
});
