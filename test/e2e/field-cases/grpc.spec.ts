import { randomUUID } from 'node:crypto';
import { credentials, makeGenericClientConstructor, status as Status } from '@grpc/grpc-js';
import type { Action } from '../../../src/transport/grpc/generated/harness/v1/action.js';
import { endOf, failureOf, GrpcTestClient, readAll, type CallEnd } from '../../support/grpc-client.js';
import { bearer, keyEnv } from '../../support/keys.js';
import { startServer, type TestServer } from '../../support/server.js';
import { idsOf, pathOf, upTo, V1Client, type RunKey } from '../../support/v1-client.js';

const ANN = { key: 'key-of-ann', tenant: 'acme', user: 'ann' };
const BOB = { key: 'key-of-bob', tenant: 'beta', user: 'bob' };
const MAX_BYTES = 65_536;

describe('field cases of gRPC', () => {
  let server: TestServer;
  let v1: V1Client;
  let grpc: GrpcTestClient;
  let run: RunKey;

  beforeAll(async () => {
    const limits = {
      BRIDLE_GRPC_MAX_RECEIVE_BYTES: String(MAX_BYTES),
      BRIDLE_HTTP_MAX_BODY_BYTES: String(MAX_BYTES),
      BRIDLE_VISION_MAX_IMAGE_BYTES: '2000',
    };
    server = await startServer({ env: { ...keyEnv([ANN, BOB]), ...limits } });
    v1 = new V1Client(server, bearer(ANN.key));
    grpc = new GrpcTestClient(server.grpc, bearer(ANN.key));
    run = await v1.send(await v1.session(), 'say:hi', { request_id: 'first' });
    await v1.ended(run);
  });

  afterAll(async () => {
    grpc.close();
    await server.dispose();
  });

  const message = (session_id: string, value: object = {}, request_id: string = randomUUID()): Action => ({
    session_id,
    request_id,
    action: { $case: 'message' as const, value: { text: 'say:x', resources: [], capabilities: [], ...value } },
  });
  const cancel = (session_id: string, run_id: string): Action => ({
    session_id,
    request_id: randomUUID(),
    action: { $case: 'cancel' as const, value: { run_id } },
  });
  const picture = (bytes: Buffer) => ({
    rest: { resources: [{ data: bytes.toString('base64') }] },
    grpc: { resources: [{ source: { $case: 'data' as const, value: bytes } }] },
  });

  describe('C78 an error keeps its name', () => {
    /** The same fault by both doors: what REST answers, and how the call ends. */
    interface Case {
      readonly name: string;
      readonly code: string;
      readonly status: keyof typeof Status;
      readonly http: number;
      readonly rest: () => Promise<{ status: number; body: { error: { code: string } } }>;
      readonly call: () => Promise<CallEnd>;
    }

    const post = (body: object) => v1.call('POST', '/v1/actions', body);
    const submit = (action: Action) => failureOf(grpc.call('submit', action));
    const bad = picture(Buffer.from('no picture'));
    const big = picture(Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(3000)]));
    const huge = 'x'.repeat(MAX_BYTES);
    const longId = 'x'.repeat(129);

    const cases: readonly Case[] = [
      {
        name: 'a session that is not there',
        ...{ code: 'SESSION_NOT_FOUND', status: 'NOT_FOUND', http: 404 },
        rest: () => v1.call('GET', `/v1/sessions/${randomUUID()}`),
        call: () => failureOf(grpc.call('getSession', { session_id: randomUUID() })),
      },
      {
        name: 'a run that is not there',
        ...{ code: 'RUN_NOT_FOUND', status: 'NOT_FOUND', http: 404 },
        rest: () => v1.call('GET', pathOf({ ...run, runId: randomUUID() })),
        call: () => failureOf(grpc.call('getRun', { session_id: run.sessionId, run_id: randomUUID() })),
      },
      {
        name: 'an agent that is not there',
        ...{ code: 'AGENT_NOT_FOUND', status: 'NOT_FOUND', http: 404 },
        rest: () => v1.call('POST', '/v1/sessions', { agent: 'nobody' }),
        call: () => failureOf(grpc.call('createSession', { agent: 'nobody', capabilities: [] })),
      },
      {
        name: 'an id that is too long',
        ...{ code: 'ID_INVALID', status: 'INVALID_ARGUMENT', http: 400 },
        rest: () => post(v1.message(run.sessionId, 'say:x', { request_id: longId })),
        call: () => submit(message(run.sessionId, {}, longId)),
      },
      {
        name: 'no request id',
        ...{ code: 'REQUEST_ID_REQUIRED', status: 'INVALID_ARGUMENT', http: 400 },
        rest: () => post(v1.message(run.sessionId, 'say:x', { request_id: undefined })),
        call: () => submit(message(run.sessionId, {}, '')),
      },
      {
        name: 'a zone that does not exist',
        ...{ code: 'TIME_ZONE_INVALID', status: 'INVALID_ARGUMENT', http: 400 },
        rest: () => post(v1.message(run.sessionId, 'say:x', { time_zone: 'Moon/Base' })),
        call: () => submit(message(run.sessionId, { time_zone: 'Moon/Base' })),
      },
      {
        name: 'a request id that was used for something else',
        ...{ code: 'REQUEST_ID_CONFLICT', status: 'FAILED_PRECONDITION', http: 409 },
        rest: () => post(v1.message(run.sessionId, 'say:other', { request_id: 'first' })),
        call: () => submit(message(run.sessionId, { text: 'say:other' }, 'first')),
      },
      {
        name: 'a cursor ahead of the run',
        ...{ code: 'CURSOR_AHEAD', status: 'FAILED_PRECONDITION', http: 409 },
        rest: () => v1.call('GET', `${pathOf(run)}?cursor=9999`),
        call: () => failureOf(grpc.call('getRun', { session_id: run.sessionId, run_id: run.runId, after_seq: '9999' })),
      },
      {
        name: 'a run that is not active',
        ...{ code: 'RUN_NOT_ACTIVE', status: 'FAILED_PRECONDITION', http: 409 },
        rest: () =>
          post({ session_id: run.sessionId, request_id: randomUUID(), action: 'cancel', run_id: randomUUID() }),
        call: () => submit(cancel(run.sessionId, randomUUID())),
      },
      {
        name: 'a capability that the session has not',
        ...{ code: 'CAPABILITY_NOT_ENABLED', status: 'PERMISSION_DENIED', http: 403 },
        rest: () => post(v1.message(run.sessionId, 'say:x', { capabilities: ['vision'] })),
        call: () => submit(message(run.sessionId, { capabilities: ['vision'] })),
      },
      {
        name: 'a picture that is none',
        ...{ code: 'IMAGE_UNREADABLE', status: 'INVALID_ARGUMENT', http: 422 },
        rest: async () => post(v1.message(await v1.session({ agent: 'vision_agent' }), 'x', bad.rest)),
        call: async () => submit(message(await v1.session({ agent: 'vision_agent' }), bad.grpc)),
      },
      {
        name: 'a picture that is too large',
        ...{ code: 'IMAGE_TOO_LARGE', status: 'RESOURCE_EXHAUSTED', http: 413 },
        rest: async () => post(v1.message(await v1.session({ agent: 'vision_agent' }), 'x', big.rest)),
        call: async () => submit(message(await v1.session({ agent: 'vision_agent' }), big.grpc)),
      },
      {
        name: 'a body over the limit',
        ...{ code: 'BODY_TOO_LARGE', status: 'RESOURCE_EXHAUSTED', http: 413 },
        rest: () => post(v1.message(run.sessionId, huge)),
        call: () => submit(message(run.sessionId, { text: huge })),
      },
      {
        name: 'a session that was deleted',
        ...{ code: 'SESSION_CLOSED', status: 'NOT_FOUND', http: 410 },
        rest: async () => v1.call('GET', `/v1/sessions/${await deleted()}`),
        call: async () => failureOf(grpc.call('getSession', { session_id: await deleted() })),
      },
      {
        name: 'an action of a later version',
        ...{ code: 'NOT_IMPLEMENTED', status: 'UNIMPLEMENTED', http: 501 },
        rest: () => post({ session_id: run.sessionId, request_id: randomUUID(), action: 'steer', text: 'x' }),
        call: () => {
          const value = { text: 'x', resources: [] };
          return submit({ ...message(run.sessionId), action: { $case: 'steer', value } });
        },
      },
      {
        name: 'a route of a later version',
        ...{ code: 'NOT_IMPLEMENTED', status: 'UNIMPLEMENTED', http: 501 },
        rest: () => v1.call('GET', `${pathOf(run)}/audit`),
        call: () => failureOf(grpc.call('getRunAudit', { session_id: run.sessionId, run_id: run.runId })),
      },
    ];

    async function deleted(): Promise<string> {
      const sessionId = await v1.session();
      expect((await v1.call('DELETE', `/v1/sessions/${sessionId}`)).status).toBe(202);
      return sessionId;
    }

    it.each(cases)('$name: $code, $status, $http', async ({ code, status, http, rest, call }) => {
      const answer = await rest();
      expect([answer.status, answer.body.error.code]).toEqual([http, code]);
      const end = await call();
      expect([Status[end.code], end.bridleCode]).toEqual([status, code]);
      expect(end.details.startsWith(`${code}: `)).toBe(true);
    });

    it.each([
      ['no key', {}],
      ['an unknown key', bearer('another')],
    ])('%s: UNAUTHENTICATED', async (_who, headers) => {
      const stranger = new GrpcTestClient(server.grpc, headers);
      const end = await failureOf(stranger.call('getSession', { session_id: run.sessionId }));
      stranger.close();
      expect(end).toMatchObject({ code: Status.UNAUTHENTICATED, bridleCode: 'UNAUTHENTICATED' });
    });

    it("another tenant's session: NOT_FOUND, and the stream ends so too", async () => {
      const other = new GrpcTestClient(server.grpc, bearer(BOB.key));
      const expected = { code: Status.NOT_FOUND, bridleCode: 'SESSION_NOT_FOUND' };
      expect(await failureOf(other.call('submit', message(run.sessionId)))).toMatchObject(expected);
      expect(await readAll(other.stream('submitAndObserve', message(run.sessionId)))).toEqual({
        events: [],
        end: expect.objectContaining(expected),
      });
      other.close();
    });

    it('a method that does not exist: UNIMPLEMENTED', async () => {
      expect(await grpc.sendBytes('/harness.v1.AgentHarness/NoSuchMethod', Buffer.alloc(0))).toMatchObject({
        code: Status.UNIMPLEMENTED,
      });
      const Other = makeGenericClientConstructor({}, 'other');
      const client = new Other(server.grpc, credentials.createInsecure());
      const same = (bytes: Buffer): Buffer => bytes;
      const end = await new Promise<CallEnd>((resolve) => {
        client.makeUnaryRequest('/no.such.Service/Call', same, same, Buffer.alloc(0), (error) => resolve(endOf(error)));
      });
      client.close();
      expect(end.code).toBe(Status.UNIMPLEMENTED);
    });

    it('a run that fails is a message of its stream, which ends with OK', async () => {
      const sessionId = await v1.session();
      for (const [text, code] of [
        ['fail:500', 'PROVIDER_ERROR'],
        ['throw', 'AGENT_ERROR'],
      ]) {
        const { events, end } = await readAll(grpc.stream('submitAndObserve', message(sessionId, { text })));
        expect(end.code).toBe(Status.OK);
        expect(events.at(-1)).toMatchObject({ type: 'run.failed', data: { error: { code } } });
      }
    });

    it('a call that its caller cancels: CANCELLED, and the run goes on', async () => {
      const sessionId = await v1.session();
      const stream = grpc.stream('submitAndObserve', message(sessionId, { text: 'tool:t:500;say:done' }));
      stream.once('data', () => stream.cancel());
      const { events, end } = await readAll(stream);
      expect(end.code).toBe(Status.CANCELLED);
      expect((await v1.ended({ sessionId, runId: events[0]!.data!.run_id })).status).toBe('completed');
    });
  });

  describe('C79 values keep their meaning', () => {
    const state = { a: { b: [1, null, 'x', { c: true }] }, empty: '', nothing: null, half: 0.5 };

    it('state written by gRPC reads the same by REST', async () => {
      const session = await grpc.call('createSession', { agent: 'harness_agent', capabilities: [], state });
      expect((await v1.snapshot(session.id)).session.state).toEqual(state);
      expect(session.state).toEqual(state);
    });

    it('and back; numbers are doubles, null and absent are two things', async () => {
      const text = JSON.stringify({ agent: 'harness_agent', state }).replace('"half"', '"n":9007199254740993,"half"');
      const response = await fetch(`${server.http}/v1/sessions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...bearer(ANN.key) },
        body: text,
      });
      const { id, state: told } = (await response.json()) as { id: string; state: object };
      const { session } = await grpc.call('getSession', { session_id: id });
      expect(told).toEqual({ ...state, n: 9007199254740992 });
      expect(session?.state).toEqual(told);
      expect(session?.state).not.toHaveProperty('absent');
    });

    it('ids and counts are numbers on /v1 and texts of decimal digits on gRPC', async () => {
      const { events, end } = await readAll(grpc.stream('observe', { session_id: run.sessionId, run_id: run.runId }));
      expect(end.code).toBe(Status.OK);
      const frames = await v1.follow(run);
      expect(events.map((event) => event.id)).toEqual(upTo(frames.length).map(String));
      expect(idsOf(frames)).toEqual(upTo(frames.length));
      const { usage } = await grpc.call('getRun', { session_id: run.sessionId, run_id: run.runId });
      const page = await v1.page(run);
      expect(usage).toEqual({
        ...(page['usage'] as object),
        ...Object.fromEntries(
          Object.entries(page['usage'] as object).map(([key, value]) => [
            key,
            typeof value === 'number' ? String(value) : value,
          ]),
        ),
      });
      expect(page['usage']).toMatchObject({ total_tokens: expect.any(Number) });
      expect(JSON.stringify(events)).not.toMatch(/"low":/);
    });

    it('a text that is absent is absent, an empty one is refused or kept as empty', async () => {
      const session = await grpc.call('createSession', { agent: 'harness_agent', capabilities: [] });
      expect(session.client_reference).toBeUndefined();
      expect((await v1.snapshot(session.id)).session.client_reference).toBeNull();
      const end = await failureOf(grpc.call('createSession', { capabilities: [], client_reference: '' }));
      const { status, body } = await v1.call('POST', '/v1/sessions', { client_reference: '' });
      expect([Status[end.code], end.bridleCode]).toEqual(['INVALID_ARGUMENT', body.error.code]);
      expect(status).toBe(400);
    });

    it('the payload of an event is the same by both doors', async () => {
      const { events } = await readAll(grpc.stream('observe', { session_id: run.sessionId, run_id: run.runId }));
      const payloads = (await v1.follow(run)).map(
        (frame) => (JSON.parse(frame.data) as { data: Record<string, unknown> }).data,
      );
      for (const [index, { data }] of events.entries()) {
        const { code, stage, state: step, status, time, message: words, detail } = payloads[index]!;
        expect(data).toMatchObject({ code, stage, state: step, status, time, message: words });
        expect(data?.detail).toEqual(detail);
      }
    });
  });

  it('a server that stops tells open streams UNAVAILABLE', async () => {
    const sessionId = await v1.session();
    const text = 'tool:t:1500;say:a;tool:t:100;say:b';
    const stream = grpc.stream('submitAndObserve', message(sessionId, { text }));
    const reading = readAll(stream);
    await new Promise<void>((resolve) => {
      stream.on('data', ({ type }: { type: string }) => {
        if (type === 'run.tool_started') resolve();
      });
    });
    expect(await server.stop()).toBe(0);
    expect((await reading).end).toMatchObject({ code: Status.UNAVAILABLE, bridleCode: 'DRAINING' });
  });
});
