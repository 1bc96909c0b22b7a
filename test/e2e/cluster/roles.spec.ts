import { connect } from 'node:net';
import { freePort } from '../../support/free-port.js';
import { startCluster, type Cluster } from '../../support/cluster.js';
import { expectOneEnd } from '../../support/run-end.js';
import type { TestServer } from '../../support/server.js';
import { V1Client } from '../../support/v1-client.js';

/** One process that only listens and one that only works. */
describe('roles', () => {
  let cluster: Cluster;
  let grpcPort: number;
  let api: TestServer;
  let v1: V1Client;

  beforeAll(async () => {
    grpcPort = await freePort();
    cluster = await startCluster(1, { env: { BRIDLE_SERVER_ROLE: 'api' } });
    api = cluster.servers[0]!;
    v1 = new V1Client(api);
  }, 60_000);

  afterAll(() => cluster.dispose());

  it('api takes messages, shows and cancels runs, and never executes one', async () => {
    expect(api.ready['role']).toBe('api');
    const sessionId = await v1.session();
    const run = await v1.send(sessionId, 'say:x');
    const attached = v1.message(await v1.session(), 'say:y');
    const frames = await v1.stream(attached, { signal: AbortSignal.timeout(5000) }, () => true);
    expect(frames[0]?.event).toBe('run.queued');
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect(await v1.page(run)).toMatchObject({ status: 'queued', started_at: null });
    expect((await v1.cancel(sessionId)).body).toMatchObject({ disposition: 'cancelled' });
    expect((await expectOneEnd(v1, run)).type).toBe('run.cancelled');
  });

  describe('worker', () => {
    let worker: TestServer;

    beforeAll(async () => {
      worker = await cluster.add({ BRIDLE_SERVER_ROLE: 'worker', BRIDLE_SERVER_GRPC_PORT: String(grpcPort) });
    });

    it('runs what was sent to api, whose streams show it', async () => {
      const run = await v1.send(await v1.session(), 'tool:t:100;say:done by the worker');
      const frames = await v1.follow(run);
      expect(frames.at(-1)?.event).toBe('run.completed');
      expect((await v1.page(run)).result?.data['text']).toBe('done by the worker');
      const streamed = await v1.stream(v1.message(await v1.session(), 'say:attached'));
      expect(streamed.at(-1)?.event).toBe('run.completed');
    });

    it.each([
      ['/health', 200],
      ['/livez', 200],
      ['/readyz', 200],
      ['/metrics', 200],
      ['/v1/sessions', 404],
      ['/list-apps', 404],
      ['/apps/harness_agent/users/u1/sessions', 404],
      ['/docs', 404],
      ['/openapi.json', 404],
    ])('answers GET %s with %d', async (path, status) => {
      expect((await fetch(worker.http + path)).status).toBe(status);
    });

    it.each(['/v1/actions', '/v1/sessions', '/run_sse'])('answers POST %s with 404', async (path) => {
      const headers = { 'content-type': 'application/json' };
      expect((await fetch(worker.http + path, { method: 'POST', headers, body: '{}' })).status).toBe(404);
    });

    it('opens no door for gRPC', async () => {
      expect(worker.ready).toMatchObject({ role: 'worker' });
      expect(worker.ready).not.toHaveProperty('grpc');
      const refusal = await new Promise((resolve) => {
        connect(grpcPort, '127.0.0.1')
          .on('error', (error: NodeJS.ErrnoException) => resolve(error.code))
          .on('connect', () => resolve('open'));
      });
      expect(refusal).toBe('ECONNREFUSED');
    });
  });
});
