import { randomUUID } from 'node:crypto';
import { startCluster, type Cluster } from '../../support/cluster.js';
import { GrpcTestClient, readAll } from '../../support/grpc-client.js';
import { bearer, keyEnv } from '../../support/keys.js';
import { pathOf, V1Client, type RunKey } from '../../support/v1-client.js';

const ANN = { key: 'key-of-ann', tenant: 'acme', user: 'ann' };
const BOB = { key: 'key-of-bob', tenant: 'beta', user: 'bob' };
const STREAM = { accept: 'text/event-stream' };

/** Two servers that start at the same moment on an empty schema, and ask for keys. */
describe('two processes with keys on one database', () => {
  let cluster: Cluster;
  let here: V1Client;
  let run: RunKey;

  beforeAll(async () => {
    cluster = await startCluster(2, { env: keyEnv([ANN, BOB]) });
    here = new V1Client(cluster.servers[0]!, bearer(ANN.key));
    run = await here.send(await here.session(), 'tool:slow:1000;say:done');
  }, 60_000);

  afterAll(() => cluster.dispose());

  const elsewhere = (headers: Record<string, string>): V1Client => new V1Client(cluster.servers[1]!, headers);

  it('both become ready', async () => {
    for (const server of cluster.servers) expect((await fetch(`${server.http}/readyz`)).status).toBe(200);
  });

  it('who may see a run sees it at the other process, to its end', async () => {
    const frames = await elsewhere(bearer(ANN.key)).follow(run);
    expect(frames.at(-1)?.event).toBe('run.completed');
  });

  describe('P17 real status codes', () => {
    it.each([
      ['no token', {}, 401, 'UNAUTHENTICATED'],
      ['a token that nobody has', bearer('key-of-nobody'), 401, 'UNAUTHENTICATED'],
      ["another tenant's run", bearer(BOB.key), 404, 'SESSION_NOT_FOUND'],
    ])('at the other process for %s', async (_what, headers, status, code) => {
      const v1 = elsewhere(headers);
      const observe = { action: 'observe', session_id: run.sessionId, run_id: run.runId };
      const cancel = { action: 'cancel', session_id: run.sessionId, request_id: randomUUID() };
      for (const answer of [
        await v1.call('GET', `${pathOf(run)}/events`, undefined, STREAM),
        await v1.call('GET', pathOf(run)),
        await v1.call('POST', '/v1/actions', observe, STREAM),
        await v1.call('POST', '/v1/actions', cancel),
      ]) {
        expect(answer).toMatchObject({ status, body: { error: { code } } });
        expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      }
    });

    it.each([
      ['no token', {}, 16],
      ["another tenant's run", bearer(BOB.key), 5],
    ])('over gRPC for %s', async (_what, headers, code) => {
      const client = new GrpcTestClient(cluster.servers[1]!.grpc, headers);
      const call = client.stream('observe', { session_id: run.sessionId, run_id: run.runId });
      const { events, end } = await readAll(call).finally(() => client.close());
      expect([events, end.code]).toEqual([[], code]);
    });
  });
});
