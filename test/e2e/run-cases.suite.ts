import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { echoed } from '../support/echo.js';
import { effectsOf } from '../support/effects.js';
import { readAll } from '../support/grpc-client.js';
import { atOnce, propertyRuns } from '../support/property-runs.js';
import type { Replicas } from '../support/replicas.js';
import { expectOneEnd } from '../support/run-end.js';
import type { SseFrame } from '../support/sse-client.js';
import { idsOf, pathOf, upTo, type RunKey } from '../support/v1-client.js';

const LONG_MS = 180_000;
const isType = (type: string) => (frame: SseFrame) => frame.event === type;
const runOf = (sessionId: string, frame: SseFrame | undefined): RunKey => ({
  sessionId,
  runId: (JSON.parse(frame?.data ?? '{}') as { run_id: string }).run_id,
});

/**
 * Things that go wrong with runs elsewhere, on the script model. Each case starts at one replica and goes on at
 * another one.
 */
export function runCases(open: () => Promise<Replicas>): void {
  let replicas: Replicas;

  beforeAll(async () => {
    replicas = await open();
  }, LONG_MS);

  afterAll(() => replicas.dispose());

  describe('P01 disconnect is not cancel', () => {
    const script = 'tool:slow:3000;say:done';

    it('goes on to the end when the stream is closed', async () => {
      const sessionId = await replicas.v1(0).session();
      const body = replicas.v1(0).message(sessionId, script);
      const frames = await replicas.v1(0).stream(body, {}, isType('run.running'));
      const run = runOf(sessionId, frames.at(-1));
      expect((await expectOneEnd(replicas.v1(1), run)).type).toBe('run.completed');
      expect(effectsOf(replicas, run.runId)).toHaveLength(1);
    });

    it.each([
      ['the body', { on_disconnect: 'cancel' }, {}],
      ['the header', {}, { 'x-on-disconnect': 'cancel' }],
    ])('is cancelled when %s says so', async (_where, more, headers) => {
      const sessionId = await replicas.v1(0).session();
      const body = replicas.v1(1).message(sessionId, script, more);
      const frames = await replicas.v1(1).stream(body, { headers }, isType('run.running'));
      const run = runOf(sessionId, frames.at(-1));
      expect((await expectOneEnd(replicas.v1(0), run)).type).toBe('run.cancelled');
      expect(effectsOf(replicas, run.runId)).toEqual([]);
    });
  });

  it('P02 stops without a ghost', async () => {
    const [v1, other] = [replicas.v1(0), replicas.v1(1)];
    const sessionId = await v1.session();
    const run = await v1.send(sessionId, 'tool:slow:5000;say:ghost');
    await sleep(500);
    const startMs = Date.now();
    expect(await other.cancel(sessionId)).toMatchObject({ status: 202, body: { disposition: 'cancelling' } });
    expect((await expectOneEnd(other, run)).type).toBe('run.cancelled');
    expect(Date.now() - startMs).toBeLessThan(4000);
    const events = await v1.events(run);
    const { messages } = echoed(await other.ended(await other.send(sessionId, 'echo')));
    expect(messages[0]?.parts?.[0]?.text).toBe('tool:slow:5000;say:ghost');
    expect(JSON.stringify(messages.slice(1))).not.toContain('ghost');
    // The tool would have ended by now.
    await sleep(Math.max(0, startMs + 6000 - Date.now()));
    expect(await v1.events(run)).toEqual(events);
    expect(effectsOf(replicas, run.runId)).toEqual([]);
    expect(await v1.cancel(sessionId)).toMatchObject({ status: 200, body: { disposition: 'noop' } });
  });

  describe('P14 one terminal event', () => {
    it('after a throw', async () => {
      const v1 = replicas.v1(0);
      const run = await v1.send(await v1.session(), 'say:a;throw');
      expect(await expectOneEnd(replicas.v1(1), run)).toMatchObject({
        type: 'run.failed',
        error: { code: 'AGENT_ERROR' },
      });
    });

    it(
      'when a cancel meets the completion',
      async () => {
        const moments = ['run.tool_started', 'run.tool_finished', 'run.message_delta'];
        const ends = await atOnce(propertyRuns(200), 4, async (round) => {
          const [v1, other] = [replicas.v1(round), replicas.v1(round + 1)];
          const sessionId = await v1.session();
          // The second time that a moment comes is near the end: the answer after the tool is one word.
          let left = round % 2 === 0 ? 1 : 2;
          const isMoment = ({ event }: SseFrame): boolean => event === moments[round % 3] && (left -= 1) === 0;
          const script = left === 1 ? 'tool:t:1500' : 'say:a;tool:t:20;say:b;tool:t:20';
          const frames = await v1.stream(v1.message(sessionId, script), {}, isMoment);
          const { status } = await other.cancel(sessionId);
          expect([200, 202]).toContain(status);
          return (await expectOneEnd(other, runOf(sessionId, frames[0]))).type;
        });
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
      const sessionId = await replicas.v1(0).session();
      const run = await replicas.v1(0).send(sessionId, 'say:x');
      const headers = { accept: 'text/event-stream' };
      const answer = await replicas.v1(1).call('GET', path(sessionId, run), undefined, headers);
      expect(answer).toMatchObject({ status, body: { error: { code } } });
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    });

    it('leaves no observer behind when callers leave', async () => {
      const v1 = replicas.v1(0);
      const run = await v1.send(await v1.session(), 'tool:slow:1500');
      await atOnce(20, 20, async (index) => {
        const signal = AbortSignal.timeout(index * 10);
        await replicas
          .v1(index)
          .follow(run, { signal })
          .catch(() => undefined);
      });
      for (let index = 0; index < replicas.size; index += 1) {
        const isZero = async (): Promise<boolean> =>
          /^bridle_open_observers 0$/m.test((await replicas.v1(index).call('GET', '/metrics')).body as string);
        for (let tries = 0; tries < 50 && !(await isZero()); tries += 1) await sleep(50);
        expect(await isZero()).toBe(true);
      }
      await v1.ended(run);
    });
  });

  describe('P18 a throw stays inside its run', () => {
    const start = async (index: number, script: string): Promise<RunKey> => {
      const v1 = replicas.v1(index);
      const sessionId = await v1.session();
      if (index % 3 === 0) return v1.send(sessionId, script);
      if (index % 3 === 1) return runOf(sessionId, (await v1.stream(v1.message(sessionId, script)))[0]);
      const value = { text: script, resources: [], capabilities: [] };
      const call = { session_id: sessionId, request_id: 'r1', action: { $case: 'message' as const, value } };
      const grpc = replicas.grpc(index + 1);
      const { events, end } = await readAll(grpc.stream('submitAndObserve', call)).finally(() => grpc.close());
      expect(end).toEqual({ code: 0, details: 'OK', bridleCode: undefined });
      return { sessionId, runId: events.at(-1)!.data!.run_id };
    };
    const expectAlive = async (): Promise<void> => {
      for (let index = 0; index < replicas.size; index += 1)
        expect((await replicas.v1(index).call('GET', '/livez')).status).toBe(200);
    };

    it(
      'over SSE, JSON and gRPC, beside runs that work',
      async () => {
        const count = propertyRuns(20);
        const runs = await Promise.all(upTo(count).flatMap((n) => [start(n, 'throw'), start(n, 'say:ok')]));
        const ends = await Promise.all(runs.map((run, index) => expectOneEnd(replicas.v1(index), run)));
        for (const [index, end] of ends.entries()) {
          if (index % 2 === 0) expect(end).toMatchObject({ type: 'run.failed', error: { code: 'AGENT_ERROR' } });
          else expect(end).toMatchObject({ type: 'run.completed', result: { data: { text: 'ok' } } });
        }
        await expectAlive();
      },
      LONG_MS,
    );

    it('and bytes that are no message end their own call alone', async () => {
      const grpc = replicas.grpc(0);
      const end = await grpc.sendBytes('/harness.v1.AgentHarness/GetRun', Buffer.from([0xff, 0xff, 0xff]));
      grpc.close();
      expect(end).toMatchObject({ code: 3, bridleCode: 'INVALID_BODY' });
      await expectAlive();
    });
  });

  it('P19 keeps the history valid after a cancel', async () => {
    const [v1, other] = [replicas.v1(0), replicas.v1(1)];
    const sessionId = await v1.session();
    const run = await v1.send(sessionId, 'tools:slow:5000,other:6000');
    await v1.until(run, (state) => state.code === 'CALLING_TOOL');
    await other.cancel(sessionId);
    expect((await expectOneEnd(v1, run)).type).toBe('run.cancelled');
    const { messages } = echoed(await other.ended(await other.send(sessionId, 'echo')));
    const calls = messages.flatMap((message) => message.toolCalls ?? []);
    const results = messages.filter((message) => message.role === 'tool');
    expect(calls.map((call) => call.name)).toEqual(['slow', 'other']);
    expect(results.map((result) => result.callId)).toEqual(calls.map((call) => call.id));
    for (const { text } of results) expect(text).toMatch(/interrupted.*unknown|not run/);
  });

  it('gives dense ids to every reader at once', async () => {
    const v1 = replicas.v1(0);
    const run = await v1.send(await v1.session(), 'stream:200:2;tool:t:100;say:end');
    const readers = await Promise.all(upTo(10).map((n) => replicas.v1(n).follow(run)));
    const items = await v1.events(run);
    for (const frames of readers) expect(idsOf(frames)).toEqual(upTo(items.length));
    expect(new Set(readers.map((frames) => JSON.stringify(frames))).size).toBe(1);
  });
}
