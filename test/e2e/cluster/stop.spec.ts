import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCluster, type Cluster } from '../../support/cluster.js';
import { effectsOf } from '../../support/effects.js';
import { GrpcTestClient, readAll } from '../../support/grpc-client.js';
import { PAIR_COUNTS } from '../../support/process-counts.js';
import { isFullRun } from '../../support/property-runs.js';
import { expectOneEnd } from '../../support/run-end.js';
import type { SseFrame } from '../../support/sse-client.js';
import { idsOf, upTo, V1Client, type RunKey } from '../../support/v1-client.js';

const LONG_MS = 120_000;
const runIdOf = (frames: readonly SseFrame[]): string => (JSON.parse(frames[0]!.data) as { run_id: string }).run_id;

/** SIGTERM under load: a deploy must cost nobody anything. */
describe('a stop under load', () => {
  let cluster: Cluster;

  const count = Math.max(...PAIR_COUNTS);

  beforeAll(async () => {
    cluster = await startCluster(count, { env: { BRIDLE_SERVER_SHUTDOWN_MS: '4000' } });
  }, LONG_MS);

  afterAll(() => cluster.dispose());

  const v1Of = (index: number): V1Client => new V1Client(cluster.servers[index % count]!);

  it(
    'hands runs back to the other processes, ends streams whole, and no event is lost',
    async () => {
      const [leaving, other] = [cluster.servers[0]!, v1Of(1)];
      const script = 'tool:first:1500;stream:20:10;tool:second:300;stream:20:10;say:done';
      const attached = upTo(10).map(() => {
        let isAtWork = (): void => undefined;
        const working = new Promise<void>((resolve) => (isAtWork = resolve));
        const reading = (async () => {
          const sessionId = await v1Of(0).session();
          const frames = await v1Of(0).stream(v1Of(0).message(sessionId, script), {}, (frame) => {
            if (frame.event === 'run.tool_started') isAtWork();
            return false;
          });
          return { run: { sessionId, runId: runIdOf(frames) }, frames };
        })();
        return { working, reading };
      });
      await Promise.all(attached.map(({ working, reading }) => Promise.race([working, reading])));
      const watchedElsewhere = await v1Of(1).send(await v1Of(1).session(), 'tool:t:2500;say:done');
      const watching = v1Of(0).follow(watchedElsewhere);
      const client = new GrpcTestClient(leaving.grpc);
      const call = client.stream('observe', {
        session_id: watchedElsewhere.sessionId,
        run_id: watchedElsewhere.runId,
      });
      const overGrpc = readAll(call);
      await once(call, 'data');

      const stopping = leaving.stop();
      await sleep(200);
      const readiness = await fetch(`${leaving.http}/readyz`);
      expect([readiness.status, await readiness.json()]).toEqual([
        503,
        { status: 'unavailable', problems: ['the server is draining'] },
      ]);
      const refused = await v1Of(0).call('POST', '/v1/actions', v1Of(0).message(watchedElsewhere.sessionId, 'say:x'));
      expect(refused).toMatchObject({ status: 503, body: { error: { code: 'DRAINING' } } });
      expect(refused.headers.get('retry-after')).toBe('1');
      expect(await stopping).toBe(0);

      let handedBack = 0;
      for (const { run, frames } of await Promise.all(attached.map(({ reading }) => reading))) {
        const last = frames.at(-1)!;
        const rest = last.event === 'run.completed' ? [] : await other.follow(run, { lastEventId: last.id! });
        expect((await expectOneEnd(other, run)).type).toBe('run.completed');
        const events = await other.events(run);
        expect(idsOf([...frames, ...rest])).toEqual(upTo(events.length));
        expect(effectsOf(leaving, run.runId).map((effect) => effect.tool)).toEqual(['first', 'second']);
        expect((await other.page(run)).attempt).toBe(1);
        if (events.some((event) => event.type === 'run.recovered')) handedBack += 1;
      }
      expect(handedBack).toBe(10);

      const before = await watching;
      const after = await other.follow(watchedElsewhere, { lastEventId: before.at(-1)!.id! });
      expect(idsOf([...before, ...after])).toEqual(upTo((await other.events(watchedElsewhere)).length));
      const { events, end } = await overGrpc;
      client.close();
      expect(end).toMatchObject({ code: 14, bridleCode: 'DRAINING' });
      expect(events.map((event) => Number(event.id))).toEqual(upTo(events.length));
      await leaving.restart();
    },
    LONG_MS,
  );

  it(
    'a rolling restart of every process completes every run exactly once',
    async () => {
      const total = isFullRun() ? 300 : 60;
      const runs: { run: RunKey; ids: number[] }[] = [];
      let isRolling = true;

      /** Sends, and follows to the end, as a client behind a balancer does: what fails is tried at the next process. */
      const client = async (lane: number): Promise<void> => {
        for (let n = 0; isRolling || runs.length < total; n += 1) {
          const run = await untilDone(lane + n, async (v1) => {
            const sessionId = await v1.session();
            return { v1, sessionId, body: v1.message(sessionId, 'stream:10:5;tool:pay:150;say:done') };
          }).then(({ sessionId, body }) =>
            untilDone(lane + n, async (v1) => {
              const answer = await v1.call('POST', '/v1/actions', body);
              if (answer.status !== 202) throw new Error(`not accepted: ${answer.status}`);
              return { sessionId, runId: answer.body.run_id as string };
            }),
          );
          const ids: number[] = [];
          await untilDone(lane + n + 1, async (v1) => {
            const isEnd = ({ id, event }: SseFrame): boolean => {
              ids.push(Number(id));
              return /^run\.(completed|failed|cancelled|expired)$/.test(event ?? '');
            };
            const frames = await v1.follow(run, ids.length === 0 ? {} : { lastEventId: ids.at(-1)! }, isEnd);
            if (frames.length === 0 || !/completed|failed/.test(frames.at(-1)!.event ?? '')) throw new Error('cut');
          });
          runs.push({ run, ids });
        }
      };
      const untilDone = async <T>(first: number, work: (v1: V1Client) => Promise<T>): Promise<T> => {
        const deadlineMs = Date.now() + 60_000;
        for (let index = first; ; index += 1) {
          try {
            return await work(v1Of(index));
          } catch (error) {
            if (Date.now() > deadlineMs) throw error;
            await sleep(50);
          }
        }
      };

      const clients = upTo(6).map((lane) => client(lane));
      for (const server of cluster.servers) {
        await sleep(300);
        expect(await server.stop()).toBe(0);
        await server.restart();
      }
      isRolling = false;
      await Promise.all(clients);

      expect(runs.length).toBeGreaterThanOrEqual(total);
      for (const { run, ids } of runs) {
        expect((await expectOneEnd(v1Of(0), run)).type).toBe('run.completed');
        expect(ids).toEqual(upTo((await v1Of(1).page(run, 'cursor=0&limit=500')).events.length));
        expect(effectsOf(cluster.servers[0]!, run.runId)).toHaveLength(1);
        expect((await v1Of(2).page(run)).attempt).toBe(1);
      }
      expect((await v1Of(0).call('GET', '/metrics')).body).toMatch(/^bridle_queue_depth 0$/m);
      for (const server of cluster.servers) expect(server.logs()).not.toMatch(/"level":50|nobody looked/);
    },
    LONG_MS,
  );
});
