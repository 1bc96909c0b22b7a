import { randomUUID } from 'node:crypto';
import { AdkClient, SESSIONS, strictFrames, textsOf } from '../support/adk-client.js';
import { failureOf, GrpcTestClient, readAll } from '../support/grpc-client.js';
import { bearer, keyEnv } from '../support/keys.js';
import { rawExchange } from '../support/raw-http.js';
import { startServer, type TestServer } from '../support/server.js';
import { pathOf, V1Client, type Answer, type RunKey } from '../support/v1-client.js';

const ANN = { key: 'key-of-ann', tenant: 'acme', user: 'ann' };
const BOB = { key: 'key-of-bob', tenant: 'beta', user: 'bob' };
const STREAM = { accept: 'text/event-stream' };
const UNAUTHENTICATED = 16;
const NOT_FOUND = 5;

describe('mode key', () => {
  let server: TestServer;
  let port: number;
  let ann: V1Client;
  let bob: V1Client;
  let run: RunKey;

  beforeAll(async () => {
    server = await startServer({ env: keyEnv([ANN, BOB]) });
    port = Number(new URL(server.http).port);
    ann = new V1Client(server, bearer(ANN.key));
    bob = new V1Client(server, bearer(BOB.key));
    run = await ann.send(await ann.session({ client_reference: 'mine' }), 'say:hi');
    await ann.ended(run);
  });

  afterAll(() => server.dispose());

  describe('without a key that is known', () => {
    const strangers: [string, Record<string, string>][] = [
      ['no key', {}],
      ['an unknown key', bearer('another')],
      ['another scheme', { authorization: `Basic ${ANN.key}` }],
      ['a key in the query alone', {}],
    ];

    it.each(strangers)('/v1 answers 401 to %s, never a stream', async (_who, headers) => {
      const query = `?access_token=${ANN.key}`;
      const calls: [string, string, unknown][] = [
        ['GET', `/v1/agents${query}`, undefined],
        ['POST', `/v1/sessions${query}`, {}],
        ['POST', `/v1/actions${query}`, ann.message(run.sessionId, 'say:x')],
        ['GET', `${pathOf(run)}${query}`, undefined],
        ['GET', `${pathOf(run)}/events${query}`, undefined],
        ['PUT', `/v1/sessions/${run.sessionId}/resources/a${query}`, Buffer.from('x')],
        ['DELETE', `/v1/sessions/${run.sessionId}${query}`, undefined],
      ];
      const stranger = new V1Client(server);
      for (const [method, path, body] of calls) {
        const answer = await stranger.call(method, path, body, { ...STREAM, ...headers });
        expect(answer).toMatchObject({ status: 401, body: { error: { code: 'UNAUTHENTICATED', retryable: false } } });
        expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
        expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      }
    });

    it.each(strangers)('the ADK wire answers 401 to %s', async (_who, headers) => {
      const adk = new AdkClient(port, { ...STREAM, ...headers });
      for (const [method, path] of [
        ['GET', SESSIONS],
        ['POST', SESSIONS],
        ['POST', '/run_sse'],
        ['GET', '/list-apps'],
      ] as const) {
        const response = await adk.request(method, path, method === 'POST' ? {} : undefined);
        expect([response.status, await response.json()]).toEqual([401, { error: 'AUTH_REQUIRED' }]);
        expect(response.headers.get('www-authenticate')).toBe('Bearer');
      }
    });

    it.each(strangers)('gRPC answers UNAUTHENTICATED to %s', async (_who, headers) => {
      const client = new GrpcTestClient(server.grpc, headers);
      const expected = { code: UNAUTHENTICATED, bridleCode: 'UNAUTHENTICATED' };
      expect(await failureOf(client.call('getSession', { session_id: run.sessionId }))).toMatchObject(expected);
      const stream = client.stream('observe', { session_id: run.sessionId, run_id: run.runId });
      expect(await readAll(stream)).toMatchObject({ events: [], end: expected });
      client.close();
    });

    it('is answered before a byte of the body is read', async () => {
      for (const [method, path] of [
        ['POST', '/v1/actions'],
        ['POST', '/run_sse'],
        ['PUT', `/v1/sessions/${run.sessionId}/resources/a`],
      ] as const) {
        const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n`;
        // The body is announced and never sent.
        const answer = await rawExchange(
          port,
          `${head}Content-Type: application/json\r\nContent-Length: 20000000\r\n\r\n`,
        );
        expect(answer).toMatch(/^HTTP\/1\.1 401 /);
      }
    });

    it('health is open, and on loopback metrics and docs are', async () => {
      for (const path of ['/health', '/livez', '/readyz', '/metrics', '/openapi.json']) {
        expect((await fetch(server.http + path)).status).toBe(200);
      }
    });
  });

  describe('the ids of another tenant are like ids that nobody has', () => {
    /** What differs between two calls in any case: ids and the trace. */
    const neutral = ({ status, body }: Answer, ...ids: readonly string[]): string =>
      ids
        .reduce((text, id) => text.replaceAll(id, 'ID'), JSON.stringify([status, body]))
        .replace(/"trace_id":"[^"]*"/, '');

    it('on every route of /v1', async () => {
      const nobody: RunKey = { sessionId: randomUUID(), runId: randomUUID() };
      const calls = (key: RunKey): [string, string, unknown][] => {
        const action = { session_id: key.sessionId, request_id: 'r1' };
        return [
          ['GET', `/v1/sessions/${key.sessionId}`, undefined],
          ['DELETE', `/v1/sessions/${key.sessionId}`, undefined],
          ['PUT', `/v1/sessions/${key.sessionId}/resources/a`, Buffer.from('no picture')],
          ['GET', pathOf(key), undefined],
          ['GET', `${pathOf(key)}/events`, undefined],
          ['POST', '/v1/actions', { ...action, action: 'message', text: 'say:x' }],
          ['POST', '/v1/actions', { ...action, action: 'message', text: 'x', resources: [{ data: 'AAAA' }] }],
          ['POST', '/v1/actions', { ...action, action: 'cancel' }],
          ['POST', '/v1/actions', { ...action, action: 'cancel', run_id: key.runId }],
          ['POST', '/v1/actions', { session_id: key.sessionId, run_id: key.runId, action: 'observe' }],
        ];
      };
      for (const [index, [method, path, body]] of calls(run).entries()) {
        const [, nowhere, other] = calls(nobody)[index]!;
        for (const headers of [{}, STREAM]) {
          const foreign = await bob.call(method, path, body, headers);
          const unknown = await bob.call(method, nowhere, other, headers);
          expect(foreign.status).toBe(404);
          expect(neutral(foreign, run.sessionId, run.runId)).toBe(neutral(unknown, nobody.sessionId, nobody.runId));
        }
      }
    });

    it('and an uploaded form is refused before its body is read', async () => {
      const head = `PUT /v1/sessions/${run.sessionId}/resources/a HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n`;
      const key = `Authorization: Bearer ${BOB.key}\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 5000000\r\n\r\n`;
      const answer = await rawExchange(port, head + key);
      expect(answer).toMatch(/^HTTP\/1\.1 404 /);
      expect(answer).toContain('SESSION_NOT_FOUND');
    });

    it('on gRPC', async () => {
      const client = new GrpcTestClient(server.grpc, bearer(BOB.key));
      const { sessionId: session_id, runId: run_id } = run;
      const value = { text: 'say:x', resources: [], capabilities: [] };
      const action = { session_id, request_id: 'r1', action: { $case: 'message' as const, value } };
      const failures = [
        await failureOf(client.call('getSession', { session_id })),
        await failureOf(client.call('deleteSession', { session_id })),
        await failureOf(client.call('getRun', { session_id, run_id })),
        await failureOf(client.call('submit', action)),
        (await readAll(client.stream('observe', { session_id, run_id }))).end,
        (await readAll(client.stream('submitAndObserve', action))).end,
      ];
      client.close();
      for (const failure of failures)
        expect(failure).toMatchObject({ code: NOT_FOUND, bridleCode: 'SESSION_NOT_FOUND' });
    });

    it('in lists', async () => {
      const { body } = await bob.call('GET', '/v1/sessions?client_reference=mine');
      expect(body.sessions).toEqual([]);
      expect((await ann.call('GET', '/v1/sessions?client_reference=mine')).body.sessions).toHaveLength(1);
    });

    it('on the ADK wire, where the same names are other sessions', async () => {
      const [ours, theirs] = [ANN, BOB].map(({ key }) => new AdkClient(port, bearer(key)));
      await ours!.session('s1');
      await (await ours!.say('s1', 'say:ours')).text();
      const foreign = await theirs!.request('GET', `${SESSIONS}/s1`);
      const unknown = await theirs!.request('GET', `${SESSIONS}/never-made`);
      expect(foreign.status).toBe(404);
      expect((await foreign.text()).replace('s1', 'ID')).toBe((await unknown.text()).replace('never-made', 'ID'));
      expect((await theirs!.say('s1', 'say:x')).status).toBe(404);
      await theirs!.session('s1');
      const frames = strictFrames(await (await theirs!.say('s1', 'say:theirs')).text());
      expect(frames.map(textsOf)).toEqual([['theirs']]);
      expect((await ours!.events('s1')).map(textsOf)).toEqual([['say:ours'], ['ours']]);
    });

    it('and nothing of it changed anything', async () => {
      const { session, runs } = await ann.snapshot(run.sessionId);
      expect(session.status).toBe('idle');
      expect(runs.map((one: { run_id: string }) => one.run_id)).toEqual([run.runId]);
    });
  });

  it('keys show nowhere', () => {
    expect(server.logs()).not.toMatch(/key-of-(ann|bob)/);
  });
});
