import { setTimeout as sleep } from 'node:timers/promises';
import { effectsOf } from '../support/effects.js';
import { oneServer } from '../support/replicas.js';
import { startServer, type TestServer } from '../support/server.js';
import type { SseFrame } from '../support/sse-client.js';
import { idsOf, upTo, V1Client, type EventItem, type RunKey } from '../support/v1-client.js';
import { restartCases } from './restart-cases.suite.js';

const RESTARTS_MS = 90_000;
/** Long enough for a call of 1.5 s to end by itself. */
const GRACE_MS = 4000;
const WORDS = 80;
const WHOLE_TEXT = upTo(WORDS)
  .map((n) => `w${n} `)
  .join('');

const isAt = (id: number) => (frame: SseFrame) => Number(frame.id) >= id;
const ofType = (events: readonly EventItem[], type: string): EventItem[] =>
  events.filter((event) => event.type === type);
/** The call is durable from here on: a process that dies earlier never began it. */
const isToolStart = (frame: SseFrame): boolean => frame.event === 'run.tool_started';

describe('restart cases in one process on SQLite', () => restartCases(() => oneServer()));

describe('after the end of the process', () => {
  let server: TestServer;
  let v1: V1Client;

  beforeAll(async () => {
    server = await startServer({ env: { BRIDLE_SERVER_SHUTDOWN_MS: String(GRACE_MS) } });
    v1 = new V1Client(server);
  });

  afterAll(() => server.dispose());

  /** Every envelope of a run that has ended. */
  const envelopes = (run: RunKey): Promise<SseFrame[]> => v1.follow(run);

  it(
    'finishes an answer that kill -9 cut in the middle, and keeps all that was received',
    async () => {
      const run = await v1.send(await v1.session(), `stream:${WORDS}:25`);
      const before = await v1.follow(run, {}, isAt(25));
      await server.kill9();
      await server.restart();
      const after = await v1.follow(run, { lastEventId: before.at(-1)!.id! });
      const whole = [...before, ...after];
      expect(idsOf(whole)).toEqual(upTo(whole.length));
      expect(whole).toEqual(await envelopes(run));
      const state = await v1.page(run);
      expect({ status: state.status, attempt: state.attempt, result: state.result }).toEqual({
        status: 'completed',
        attempt: 2,
        result: { type: 'text', data: { text: WHOLE_TEXT } },
      });
      const [recovered] = ofType(await v1.events(run), 'run.recovered');
      // Whoever drops the partial text after this id and reads on has the whole answer once.
      const kept = whole.filter((frame) => frame.event === 'run.message_delta' && Number(frame.id) > recovered!.id);
      expect(recovered!['discard_after']).toBeLessThan(25);
      expect(kept.map((frame) => (JSON.parse(frame.data) as { data: { text: string } }).data.text).join('')).toBe(
        WHOLE_TEXT,
      );
    },
    RESTARTS_MS,
  );

  describe('SIGTERM', () => {
    it(
      'hands a run back at its next safe point, ends the streams whole, and the run goes on after the start',
      async () => {
        const run = await v1.send(await v1.session(), 'tool:first:1500;tool:second:200;say:done');
        const reading = v1.follow(run);
        await v1.follow(run, {}, isToolStart);
        const stopping = server.stop();
        await sleep(200);
        expect((await fetch(`${server.http}/readyz`)).status).toBe(503);
        expect(await stopping).toBe(0);
        const before = await reading;
        await server.restart();
        const after = await v1.follow(run, { lastEventId: before.at(-1)!.id! });
        const whole = [...before, ...after];
        expect(idsOf(whole)).toEqual(upTo(whole.length));
        expect(whole).toEqual(await envelopes(run));
        expect(await v1.page(run)).toMatchObject({ status: 'completed', attempt: 1 });
        expect(effectsOf(server, run.runId).map((effect) => effect.tool)).toEqual(['first', 'second']);
      },
      RESTARTS_MS,
    );

    it(
      'a second one ends the process at once, and nothing committed is lost',
      async () => {
        const run = await v1.send(await v1.session(), 'tool:slow:60000;say:done');
        await v1.follow(run, {}, isToolStart);
        const acting = await v1.page(run);
        const known = await v1.events(run);
        process.kill(server.pid, 'SIGTERM');
        await sleep(300);
        const startMs = Date.now();
        await server.stop('SIGTERM');
        expect(Date.now() - startMs).toBeLessThan(GRACE_MS / 2);
        await server.restart();
        await v1.ended(run);
        const events = await v1.events(run);
        expect(events.slice(0, known.length)).toEqual(known);
        expect(events.map((event) => event.id)).toEqual(upTo(events.length));
        expect(events.at(-1)?.type).toBe('run.completed');
        expect(acting.attempt).toBe(1);
      },
      RESTARTS_MS,
    );

    it(
      'waits for a long call no longer than server.shutdownMs',
      async () => {
        const run = await v1.send(await v1.session(), 'tool:slow:60000;say:done');
        await v1.follow(run, {}, isToolStart);
        expect(await server.stop()).toBe(0);
        await server.restart();
        expect(await v1.ended(run)).toMatchObject({ status: 'completed', attempt: 1 });
        expect(ofType(await v1.events(run), 'run.tool_finished')[0]).toMatchObject({ outcome: 'unknown' });
      },
      RESTARTS_MS,
    );
  });
});
