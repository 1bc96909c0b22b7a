import { setTimeout as sleep } from 'node:timers/promises';
import { echoed } from '../support/echo.js';
import { effectsOf } from '../support/effects.js';
import { answerReply, FakeLlm } from '../support/fake-llm.js';
import type { Replicas } from '../support/replicas.js';
import { expectOneEnd } from '../support/run-end.js';
import type { SseFrame } from '../support/sse-client.js';
import { idsOf, pathOf, upTo, type EventItem, type RunKey, type RunState } from '../support/v1-client.js';

const RESTARTS_MS = 90_000;

const ofType = (events: readonly EventItem[], type: string): EventItem[] =>
  events.filter((event) => event.type === type);
/** The call is durable from here on: a process that dies earlier never began it. */
const isToolStart = (frame: SseFrame): boolean => frame.event === 'run.tool_started';
const payloadsOf = (frames: readonly SseFrame[]): unknown[] => frames.map((frame) => JSON.parse(frame.data) as unknown);

/** Things that go wrong elsewhere when a process ends: another one goes on with what it left. */
export function restartCases(open: () => Promise<Replicas>): void {
  let replicas: Replicas;

  beforeAll(async () => {
    replicas = await open();
  }, RESTARTS_MS);

  afterAll(() => replicas.dispose());

  it(
    'P03 resumes without loss or repeat at another replica',
    async () => {
      const v1 = replicas.v1(0);
      const run = await v1.send(await v1.session(), 'say:a;tool:t:300;say:b;tool:t:300;say:c');
      const before = await v1.follow(run, {}, (frame) => Number(frame.id) >= 4);
      await v1.ended(run);
      const other = await replicas.elsewhere();
      const after = await other.follow(run, { lastEventId: 4 });
      expect(after[0]?.id).toBe('5');
      const whole = [...before, ...after];
      const items = await other.events(run);
      expect(idsOf(whole)).toEqual(upTo(items.length));
      expect(payloadsOf(whole)).toEqual(
        items.map(({ id, type, ...item }) => ({ id, type, data: expect.objectContaining(item) })),
      );
      const headers = { 'last-event-id': String(items.length) };
      expect((await other.call('GET', `${pathOf(run)}/events`, undefined, headers)).status).toBe(204);
    },
    RESTARTS_MS,
  );

  describe('P07 ghost runs do not block', () => {
    /** Some server may be dead at any moment. */
    const endedSomewhere = async (run: RunKey): Promise<RunState> => {
      for (let index = 0; ; index += 1) {
        const state = await replicas
          .v1(index)
          .page(run)
          .catch(() => undefined);
        if (state?.status === 'failed') return state;
        await sleep(50);
      }
    };
    const msBetween = (from: unknown, to: unknown): number => Date.parse(to as string) - Date.parse(from as string);

    it(
      'a run that ends every process fails with WORKER_LOST, and what comes after it runs at once',
      async () => {
        const run = await replicas.v1(0).send(await replicas.v1(0).session(), 'crash');
        const { code, error } = await replicas.supervise(endedSomewhere(run));
        expect({ code, error }).toMatchObject({ code: 'WORKER_LOST', error: { code: 'WORKER_LOST' } });
        expect((await expectOneEnd(replicas.v1(0), run)).type).toBe('run.failed');
        const attempts = ofType(await replicas.v1(0).events(run), 'run.running').map((event) => event['attempt']);
        expect(attempts).toEqual([1, 2, 3]);
        for (let index = 0; index < replicas.size; index += 1) {
          const v1 = replicas.v1(index);
          const next = await v1.ended(await v1.send(await v1.session(), 'say:still here'));
          expect(next.status).toBe('completed');
          expect(msBetween(next['created_at'], next['started_at'])).toBeLessThan(2000);
          expect((await v1.call('GET', '/metrics')).body).toMatch(/^bridle_queue_depth 0$/m);
        }
      },
      RESTARTS_MS,
    );
  });

  it(
    'P19 closes the call that SIGKILL broke off, and every later history is paired',
    async () => {
      const v1 = replicas.v1(0);
      const sessionId = await v1.session();
      // A run that is attached to its request is executed by the process that accepted it.
      const frames = await v1.stream(v1.message(sessionId, 'tool:slow:120000'), {}, isToolStart);
      const run = { sessionId, runId: (JSON.parse(frames[0]!.data) as { run_id: string }).run_id };
      const other = await replicas.loseFirst();
      expect((await expectOneEnd(other, run)).type).toBe('run.completed');
      const [finished] = ofType(await other.events(run), 'run.tool_finished');
      expect(finished).toMatchObject({ tool_name: 'slow', outcome: 'unknown' });
      expect(effectsOf(replicas, run.runId)).toEqual([]);

      const { messages } = echoed(await other.ended(await other.send(sessionId, 'echo')));
      const calls = messages.flatMap((message) => message.toolCalls ?? []);
      const results = messages.filter((message) => message.role === 'tool');
      expect(calls.map((call) => call.name)).toEqual(['slow']);
      expect(results.map((result) => result.callId)).toEqual(calls.map((call) => call.id));
      expect(results[0]?.text).toMatch(/interrupted.*effect is unknown/);

      const provider = await FakeLlm.start({ strict: true });
      provider.script(answerReply('fine'));
      await replicas.restartAll({
        BRIDLE_MODEL_PROVIDER: 'openai-compatible',
        BRIDLE_MODEL_BASE_URL: provider.baseUrl,
        BRIDLE_MODEL_API_KEY: 'test-key',
        BRIDLE_MODEL_NAME: 'strict',
      });
      const { status, result } = await v1.ended(await v1.send(sessionId, 'and now?'));
      expect({ status, result }).toEqual({ status: 'completed', result: { type: 'text', data: { text: 'fine' } } });
      await provider.close();
    },
    RESTARTS_MS,
  );
}
