import { setTimeout as sleep } from 'node:timers/promises';
import { startCluster, type Cluster } from '../../support/cluster.js';
import { GrpcTestClient, readAll } from '../../support/grpc-client.js';
import { startDocumentedNginx, type NginxFront } from '../../support/nginx.js';
import { idsOf, pathOf, upTo, V1Client, type RunKey } from '../../support/v1-client.js';

const LONG_MS = 120_000;
const QUIET_MS = 4500;
const READ_TIMEOUT = '3s';

/** Two servers that take calls and one that works, behind the file that is shipped. */
describe('two api servers behind nginx', () => {
  let cluster: Cluster;
  let nginx: NginxFront;
  let v1: V1Client;

  beforeEach(async () => {
    cluster = await startCluster(3, {
      env: { BRIDLE_EVENTS_PING_MS: '750' },
      envOf: (index) => ({ BRIDLE_SERVER_ROLE: index < 2 ? 'api' : 'worker' }),
    });
    const doors = cluster.servers.filter(({ ready }) => ready['role'] === 'api');
    nginx = await startDocumentedNginx(doors, [['grpc_read_timeout 60s;', `grpc_read_timeout ${READ_TIMEOUT};`]]);
    v1 = new V1Client(nginx);
  }, LONG_MS);

  afterEach(async () => {
    await nginx?.stop();
    await cluster?.dispose();
  });

  /** Reads a run to its end as a client does: what is cut is asked for again, after the last id. */
  async function readThrough(run: RunKey): Promise<{ ids: number[]; connections: number }> {
    const ids: number[] = [];
    for (let connections = 1; ; connections += 1) {
      const after = ids.length === 0 ? {} : { lastEventId: ids.at(-1)! };
      const frames = await v1.follow(run, after);
      ids.push(...idsOf(frames));
      if (/completed|failed/.test(frames.at(-1)?.event ?? '')) return { ids, connections };
      await sleep(20);
    }
  }

  it(
    'P03 a stream that is dropped goes on at whichever server nginx takes',
    async () => {
      for (let n = 0; n < 4; n += 1) {
        const run = await v1.send(await v1.session(), 'say:a;tool:t:300;say:b;tool:t:300;say:c');
        const before = await v1.follow(run, {}, ({ id }) => Number(id) >= 4);
        await v1.ended(run);
        const after = await v1.follow(run, { lastEventId: 4 });
        expect(after[0]?.id).toBe('5');
        expect(idsOf([...before, ...after])).toEqual(upTo((await v1.events(run)).length));
      }
    },
    LONG_MS,
  );

  it(
    'a server that stops costs its readers a new connection and nobody an error',
    async () => {
      const runs = await Promise.all(
        upTo(8).map(async () => v1.send(await v1.session(), 'stream:20:50;tool:t:2000;stream:20:50')),
      );
      const reading = Promise.all(runs.map(readThrough));
      const statuses = new Map<string, number>();
      let isOver = false;
      const asking = Promise.all(
        upTo(4).map(async () => {
          while (!isOver) {
            for (const [method, path, body] of [
              ['GET', '/v1/agents', undefined],
              ['GET', pathOf(runs[0]!), undefined],
              ['POST', '/v1/sessions', { agent: 'harness_agent' }],
            ] as const) {
              const { status } = await v1.call(method, path, body);
              const key = `${method} ${path} ${status}`;
              statuses.set(key, (statuses.get(key) ?? 0) + 1);
            }
            await sleep(5);
          }
        }),
      );
      await sleep(1000);
      const leaving = cluster.servers.find(({ ready }) => ready['role'] === 'api')!;
      expect(await leaving.stop()).toBe(0);
      const reads = await reading;
      isOver = true;
      await asking;

      expect([...statuses.keys()].sort()).toEqual([
        'GET /v1/agents 200',
        `GET ${pathOf(runs[0]!)} 200`,
        'POST /v1/sessions 201',
      ]);
      for (const [index, { ids }] of reads.entries()) {
        expect(ids).toEqual(upTo((await v1.events(runs[index]!)).length));
      }
      // At least one of eight streams was at the server that left.
      expect(Math.max(...reads.map(({ connections }) => connections))).toBeGreaterThan(1);
    },
    LONG_MS,
  );

  it(
    'gRPC streams outlast a silence that is longer than grpc_read_timeout, and a cancelled call is noticed',
    async () => {
      const client = new GrpcTestClient(nginx.grpc);
      try {
        const run = await v1.send(await v1.session(), `tool:quiet:${QUIET_MS};say:done`);
        const { events, end } = await readAll(
          client.stream('observe', { session_id: run.sessionId, run_id: run.runId }),
        );
        expect(end.code).toBe(0);
        expect(events.map(({ id }) => Number(id))).toEqual(upTo((await v1.events(run)).length));

        const slow = await v1.send(await v1.session(), 'tool:slow:20000;say:done');
        const stream = client.stream('observe', { session_id: slow.sessionId, run_id: slow.runId });
        stream.on('error', () => undefined);
        await new Promise((resolve) => stream.once('data', resolve));
        expect(await openObservers()).toBe(1);
        stream.cancel();
        for (const deadlineMs = Date.now() + 10_000; (await openObservers()) > 0; await sleep(50)) {
          expect(Date.now()).toBeLessThan(deadlineMs);
        }
        await v1.cancel(slow.sessionId);
      } finally {
        client.close();
      }
    },
    LONG_MS,
  );

  async function openObservers(): Promise<number> {
    const texts = await Promise.all(cluster.servers.map(async ({ http }) => (await fetch(`${http}/metrics`)).text()));
    return texts.reduce((sum, text) => sum + Number(/^bridle_open_observers (\d+)$/m.exec(text)?.[1]), 0);
  }

  it('says in its own words what is too large, a little above the limit and far above it', async () => {
    const session = await v1.session();
    for (const mib of [32.5, 34]) {
      const answer = await v1.call('POST', '/v1/actions', v1.message(session, 'x'.repeat(mib * 1024 * 1024)));
      expect([answer.status, answer.body.error.code]).toEqual([413, 'BODY_TOO_LARGE']);
    }
  });
});
