import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { echoed } from '../../support/echo.js';
import { effectsOf } from '../../support/effects.js';
import { PROCESS_COUNTS } from '../../support/process-counts.js';
import { atOnce, propertyRuns } from '../../support/property-runs.js';
import { severalServers, type Replicas } from '../../support/replicas.js';
import { expectOneEnd } from '../../support/run-end.js';
import { upTo, type EventItem, type RunKey } from '../../support/v1-client.js';

const LONG_MS = 180_000;

/** Callers who do two things at the same moment, each at another process. */
describe.each(PROCESS_COUNTS)('two at once, in %d processes', (count) => {
  let replicas: Replicas;

  beforeAll(async () => {
    replicas = await severalServers(count);
  }, LONG_MS);

  afterAll(() => replicas.dispose());

  it(
    'P09 double texting: one run after another, in the order of their receipts',
    async () => {
      const timeOf = (value: unknown): number => Date.parse(value as string);
      await atOnce(propertyRuns(50), 5, async (round) => {
        const v1 = replicas.v1(round);
        const sessionId = await v1.session();
        const scripts = ['say:1;tool:t:200', 'say:2;tool:t:200', 'say:3'];
        const sent = await Promise.all(
          scripts.map(async (script, n) => {
            await sleep(n * 7);
            return replicas.v1(round + n).send(sessionId, script);
          }),
        );
        const ends = await Promise.all(sent.map((run) => v1.ended(run)));
        expect(ends.map((end) => end.status)).toEqual(['completed', 'completed', 'completed']);
        const { messages } = echoed(await v1.ended(await v1.send(sessionId, 'echo')));

        const snapshot = await v1.snapshot(sessionId, 'events=0&runs=10');
        const inOrder = (snapshot.runs as { run_id: string; started_at: string; ended_at: string }[]).slice(0, 3);
        for (const [n, run] of inOrder.entries())
          if (n > 0) expect(timeOf(run.started_at)).toBeGreaterThanOrEqual(timeOf(inOrder[n - 1]!.ended_at));
        const expected = inOrder.map((run) => scripts[sent.findIndex(({ runId }) => runId === run.run_id)]!);
        const turns = messages.flatMap((message, at) => (message.role === 'user' ? [at] : []));
        expect(turns.map((at) => messages[at]!.parts![0]!.text)).toEqual([...expected, 'echo']);
        for (const [n, script] of expected.entries()) {
          const answers = messages.slice(turns[n]! + 1, turns[n + 1]).filter(({ role }) => role === 'assistant');
          expect(answers[0]!.text).toBe(/\d/.exec(script)![0]);
        }
      });
    },
    LONG_MS,
  );

  it(
    'P12 a cancel at the wrong replica is heard without a bus, and none is lost',
    async () => {
      const timeOf = (event: EventItem | undefined): number => Date.parse(event!['time'] as string);
      await atOnce(propertyRuns(20), 10, async (round) => {
        const v1 = replicas.v1(round);
        const sessionId = await v1.session();
        // A run that is attached to its request is executed by the process that accepted it.
        const body = v1.message(sessionId, 'tool:slow:20000');
        const frames = await v1.stream(body, {}, (frame) => frame.event === 'run.tool_started');
        const run = { sessionId, runId: (JSON.parse(frames[0]!.data) as { run_id: string }).run_id };
        const other = replicas.v1(round + 1);
        expect((await other.cancel(sessionId)).body).toMatchObject({ disposition: 'cancelling' });
        const end = await expectOneEnd(other, run);
        expect(end.type).toBe('run.cancelled');
        const asked = (await other.events(run)).find((event) => event.type === 'run.cancelling');
        expect(timeOf(end) - timeOf(asked)).toBeLessThan(5000);
        expect(effectsOf(replicas, run.runId)).toEqual([]);
      });
    },
    LONG_MS,
  );

  it(
    'one request sent to every process at once is one run',
    async () => {
      await atOnce(propertyRuns(20), 4, async (round) => {
        const sessionId = await replicas.v1(round).session();
        const body = replicas.v1(round).message(sessionId, 'tool:pay:100;say:paid');
        const senders = upTo(2 * count).map((n) => replicas.v1(n));
        const answers = await Promise.all(senders.map((v1) => v1.call('POST', '/v1/actions', body)));
        expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([202]));
        const runIds = new Set(answers.map((answer) => answer.body.run_id as string));
        expect(runIds.size).toBe(1);
        const replayed = answers.filter((answer) => answer.headers.get('idempotent-replayed') === 'true');
        expect(replayed).toHaveLength(senders.length - 1);

        const run: RunKey = { sessionId, runId: [...runIds][0]! };
        expect((await expectOneEnd(replicas.v1(round + 1), run)).type).toBe('run.completed');
        expect(effectsOf(replicas, run.runId)).toHaveLength(1);
        const other = await replicas.v1(round + 1).call('POST', '/v1/actions', { ...body, text: 'tool:pay:101' });
        expect(other).toMatchObject({ status: 409, body: { error: { code: 'REQUEST_ID_CONFLICT' } } });
      });
    },
    LONG_MS,
  );

  it('one streamed request sent to every process at once is one run, which all of them show', async () => {
    const sessionId = await replicas.v1(0).session();
    const body = replicas.v1(0).message(sessionId, 'stream:30:10;tool:pay:100');
    const streams = await Promise.all(upTo(2 * count).map((n) => replicas.v1(n).stream(body)));
    const run = { sessionId, runId: (JSON.parse(streams[0]![0]!.data) as { run_id: string }).run_id };
    const ids = upTo((await replicas.v1(0).events(run)).length);
    for (const frames of streams) expect(frames.map((frame) => Number(frame.id))).toEqual(ids);
    expect(effectsOf(replicas, run.runId)).toHaveLength(1);
  });

  describe('a session that every process is asked to make at once', () => {
    it('is one for one request id of /v1', async () => {
      await atOnce(propertyRuns(20), 2, async (round) => {
        const reference = `order ${randomUUID()}`;
        const body = { agent: 'harness_agent', client_reference: reference, request_id: randomUUID() };
        const answers = await Promise.all(
          upTo(2 * count).map((n) => replicas.v1(round + n).call('POST', '/v1/sessions', body)),
        );
        expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([201]));
        expect(new Set(answers.map((answer) => answer.body.id as string)).size).toBe(1);
        const query = `client_reference=${encodeURIComponent(reference)}`;
        const listed = await replicas.v1(round).call('GET', `/v1/sessions?${query}`);
        expect(listed.body.sessions).toHaveLength(1);
      });
    });

    it('is made once for one id of the ADK wire', async () => {
      await atOnce(propertyRuns(20), 2, async (round) => {
        const sessionId = randomUUID();
        const path = '/apps/harness_agent/users/u1/sessions';
        const answers = await Promise.all(
          upTo(2 * count).map((n) => replicas.v1(round + n).call('POST', path, { sessionId })),
        );
        const refused = answers.filter((answer) => answer.status !== 200);
        expect(refused).toHaveLength(2 * count - 1);
        for (const { status, body } of refused)
          expect([status, body]).toEqual([409, { detail: `Session already exists: ${sessionId}` }]);
      });
    });

    it('keeps what every one of them writes into the state that they share', async () => {
      const user = `u-${randomUUID()}`;
      const path = `/apps/harness_agent/users/${user}/sessions`;
      const names = upTo(4 * count).map((n) => `${n}`);
      const answers = await Promise.all(
        names.map((n, index) =>
          replicas.v1(index).call('POST', path, { state: { [`user:${n}`]: n, [`app:${user}-${n}`]: n } }),
        ),
      );
      expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
      const { state } = (await replicas.v1(0).call('GET', `${path}/${answers[0]!.body.id}`)).body;
      for (const n of names) expect(state).toMatchObject({ [`user:${n}`]: n, [`app:${user}-${n}`]: n });
    });
  });
});
