import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { echoed } from '../support/echo.js';
import { effectsOf } from '../support/effects.js';
import { GrpcTestClient, readAll } from '../support/grpc-client.js';
import { propertyRuns } from '../support/property-runs.js';
import { startServer, type TestServer } from '../support/server.js';
import type { SseFrame } from '../support/sse-client.js';
import { idsOf, pathOf, upTo, V1Client, type EventItem, type RunKey } from '../support/v1-client.js';

const TERMINAL = ['run.completed', 'run.failed', 'run.cancelled', 'run.expired'];
const LONG_MS = 120_000;
const isType = (type: string) => (frame: SseFrame) => frame.event === type;
const runOf = (sessionId: string, frame: SseFrame | undefined): RunKey => ({
  sessionId,
  runId: (JSON.parse(frame?.data ?? '{}') as { run_id: string }).run_id,
});

/** Things that go wrong with runs elsewhere, on the script model and SQLite. */
describe('run cases', () => {
  let server: TestServer;
  let v1: V1Client;
  let grpc: GrpcTestClient;

  beforeAll(async () => {
    server = await startServer();
    v1 = new V1Client(server);
    grpc = new GrpcTestClient(server.grpc);
  });

  afterAll(async () => {
    grpc.close();
    await server.dispose();
  });

  /** Exactly one terminal event, which is the last one, and the run agrees with it. */
  async function expectOneEnd(run: RunKey): Promise<EventItem> {
    const state = await v1.ended(run);
    const events = await v1.events(run);
    expect(events.map((event) => event.id)).toEqual(upTo(events.length));
    expect(events.filter((event) => TERMINAL.includes(event.type))).toEqual([events.at(-1)]);
    expect(events.at(-1)?.type).toBe(`run.${state.status}`);
    return events.at(-1)!;
  }

  describe('P01 disconnect is not cancel', () => {
    const script = 'tool:slow:3000;say:done';

    it('goes on to the end when the stream is closed', async () => {
      const sessionId = await v1.session();
      const frames = await v1.stream(v1.message(sessionId, script), {}, isType('run.running'));
      const run = runOf(sessionId, frames.at(-1));
      expect((await expectOneEnd(run)).type).toBe('run.completed');
      expect(effectsOf(server, run.runId)).toHaveLength(1);
    });

    it.each([
      ['the body', { on_disconnect: 'cancel' }, {}],
      ['the header', {}, { 'x-on-disconnect': 'cancel' }],
    ])('is cancelled when %s says so', async (_where, more, headers) => {
      const sessionId = await v1.session();
      const body = v1.message(sessionId, script, more);
      const frames = await v1.stream(body, { headers }, isType('run.running'));
      const run = runOf(sessionId, frames.at(-1));
      expect((await expectOneEnd(run)).type).toBe('run.cancelled');
      expect(effectsOf(server, run.runId)).toEqual([]);
    });
  });

  it('P02 stops without a ghost', async () => {
    const sessionId = await v1.session();
    const run = await v1.send(sessionId, 'tool:slow:5000;say:ghost');
    await sleep(500);
    const startMs = Date.now();
    expect(await v1.cancel(sessionId)).toMatchObject({ status: 202, body: { disposition: 'cancelling' } });
    expect((await expectOneEnd(run)).type).toBe('run.cancelled');
    expect(Date.now() - startMs).toBeLessThan(4000);
    const events = await v1.events(run);
    const { messages } = echoed(await v1.ended(await v1.send(sessionId, 'echo')));
    expect(messages[0]?.parts?.[0]?.text).toBe('tool:slow:5000;say:ghost');
    expect(JSON.stringify(messages.slice(1))).not.toContain('ghost');
    // The tool would have ended by now.
    await sleep(Math.max(0, startMs + 6000 - Date.now()));
    expect(await v1.events(run)).toEqual(events);
    expect(effectsOf(server, run.runId)).toEqual([]);
    expect(await v1.cancel(sessionId)).toMatchObject({ status: 200, body: { disposition: 'noop' } });
  });

  describe('P14 one terminal event', () => {
    it('after a throw', async () => {
      const run = await v1.send(await v1.session(), 'say:a;throw');
      expect(await expectOneEnd(run)).toMatchObject({ type: 'run.failed', error: { code: 'AGENT_ERROR' } });
    });

    it(
      'when a cancel meets the completion',
      async () => {
        const moments = ['run.tool_started', 'run.tool_finished', 'run.message_delta'];
        const ends: string[] = [];
        for (let round = 0; round < propertyRuns(200); round += 1) {
          const sessionId = await v1.session();
          // The second time that a moment comes is near the end: the answer after the tool is one word.
          let left = round % 2 === 0 ? 1 : 2;
          const isMoment = ({ event }: SseFrame): boolean => event === moments[round % 3] && (left -= 1) === 0;
          const script = left === 1 ? 'tool:t:300' : 'say:a;tool:t:20;say:b;tool:t:20';
          const frames = await v1.stream(v1.message(sessionId, script), {}, isMoment);
          const { status } = await v1.cancel(sessionId);
          expect([200, 202]).toContain(status);
          ends.push((await expectOneEnd(runOf(sessionId, frames[0]))).type);
        }
        expect(new Set(ends)).toEqual(new Set(['run.completed', 'run.cancelled']));
      },
      LONG_MS,
    );
  });

  describe('P17 real status codes', () => {
    it.each([
      [
        'an unknown run',
        (sid: string) => `${pathOf({ sessionId: sid, runId: randomUUID() })}/events`,
        404,
        'RUN_NOT_FOUND',
      ],
      [
        'an unknown session',
        (_: string, run: RunKey) => `${pathOf({ ...run, sessionId: randomUUID() })}/events`,
        404,
        'SESSION_NOT_FOUND',
      ],
      [
        'a cursor that is no number',
        (_: string, run: RunKey) => `${pathOf(run)}/events?cursor=abc`,
        400,
        'CURSOR_INVALID',
      ],
      ['a cursor ahead', (_: string, run: RunKey) => `${pathOf(run)}/events?cursor=9999`, 409, 'CURSOR_AHEAD'],
    ])('for %s', async (_what, path, status, code) => {
      const sessionId = await v1.session();
      const run = await v1.send(sessionId, 'say:x');
      const answer = await v1.call('GET', path(sessionId, run), undefined, { accept: 'text/event-stream' });
      expect(answer).toMatchObject({ status, body: { error: { code } } });
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    });

    it('leaves no observer behind when callers leave', async () => {
      const run = await v1.send(await v1.session(), 'tool:slow:1500');
      const leaving = Array.from({ length: 20 }, async (_, index) => {
        const signal = AbortSignal.timeout(index * 10);
        await v1.follow(run, { signal }).catch(() => undefined);
      });
      await Promise.all(leaving);
      const isZero = async (): Promise<boolean> =>
        /^bridle_open_observers 0$/m.test((await v1.call('GET', '/metrics')).body as string);
      for (let tries = 0; tries < 50 && !(await isZero()); tries += 1) await sleep(50);
      expect(await isZero()).toBe(true);
      await v1.ended(run);
    });
  });

  describe('P18 a throw stays inside its run', () => {
    it(
      'over SSE, JSON and gRPC, beside runs that work',
      async () => {
        const count = propertyRuns(20);
        const start = async (index: number, script: string): Promise<RunKey> => {
          const sessionId = await v1.session();
          if (index % 3 === 0) return v1.send(sessionId, script);
          if (index % 3 === 1) return runOf(sessionId, (await v1.stream(v1.message(sessionId, script)))[0]);
          const value = { text: script, resources: [], capabilities: [] };
          const call = { session_id: sessionId, request_id: 'r1', action: { $case: 'message' as const, value } };
          const { events, end } = await readAll(grpc.stream('submitAndObserve', call));
          expect(end).toEqual({ code: 0, details: 'OK', bridleCode: undefined });
          return { sessionId, runId: events.at(-1)!.data!.run_id };
        };
        const runs = await Promise.all(upTo(count).flatMap((n) => [start(n, 'throw'), start(n, 'say:ok')]));
        const ends = await Promise.all(runs.map((run) => expectOneEnd(run)));
        for (const [index, end] of ends.entries()) {
          if (index % 2 === 0) expect(end).toMatchObject({ type: 'run.failed', error: { code: 'AGENT_ERROR' } });
          else expect(end).toMatchObject({ type: 'run.completed', result: { data: { text: 'ok' } } });
        }
        expect((await v1.call('GET', '/livez')).status).toBe(200);
      },
      LONG_MS,
    );

    it('and bytes that are no message end their own call alone', async () => {
      const end = await grpc.sendBytes('/harness.v1.AgentHarness/GetRun', Buffer.from([0xff, 0xff, 0xff]));
      expect(end).toMatchObject({ code: 3, bridleCode: 'INVALID_BODY' });
      expect((await v1.call('GET', '/livez')).status).toBe(200);
    });
  });

  it('P19 keeps the history valid after a cancel', async () => {
    const sessionId = await v1.session();
    const run = await v1.send(sessionId, 'tools:slow:5000,other:6000');
    await v1.until(run, (state) => state.code === 'CALLING_TOOL');
    await v1.cancel(sessionId);
    expect((await expectOneEnd(run)).type).toBe('run.cancelled');
    const { messages } = echoed(await v1.ended(await v1.send(sessionId, 'echo')));
    const calls = messages.flatMap((message) => message.toolCalls ?? []);
    const results = messages.filter((message) => message.role === 'tool');
    expect(calls.map((call) => call.name)).toEqual(['slow', 'other']);
    expect(results.map((result) => result.callId)).toEqual(calls.map((call) => call.id));
    for (const { text } of results) expect(text).toMatch(/interrupted.*unknown|not run/);
  });

  it('gives dense ids to every reader at once', async () => {
    const run = await v1.send(await v1.session(), 'stream:200:2;tool:t:100;say:end');
    const readers = await Promise.all(upTo(10).map(() => v1.follow(run)));
    const items = await v1.events(run);
    for (const frames of readers) expect(idsOf(frames)).toEqual(upTo(items.length));
    expect(new Set(readers.map((frames) => JSON.stringify(frames))).size).toBe(1);
  });
});
