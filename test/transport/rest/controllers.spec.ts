import { AppError } from '../../../src/common/app-error.js';
import { OpenStreams } from '../../../src/transport/http/open-streams.js';
import { projectAll } from '../../../src/events/projection.js';
import { sseProjection } from '../../../src/transport/rest/sse-frames.js';
import { EXAMPLE_EVENTS, EXAMPLE_RUN } from '../../support/example-run.js';
import { rawConnect, readAll } from '../../support/raw-http.js';
import { bootRest, type RestApp } from './rest-app.js';

const MESSAGE = { session_id: 'S1', request_id: 'req-1', action: 'message', text: 'hi' };
const SSE = { accept: 'text/event-stream' };
const frames = (encoding: 'flat' | 'envelope', from: number, to: number) =>
  projectAll(sseProjection(encoding), EXAMPLE_RUN, EXAMPLE_EVENTS.slice(from - 1, to)).join('');

async function eventually(check: () => boolean): Promise<void> {
  for (let wait = 0; wait < 200 && !check(); wait += 1) await new Promise((resolve) => setTimeout(resolve, 25));
  expect(check()).toBe(true);
}

describe('/v1', () => {
  let server: RestApp;
  beforeEach(async () => {
    server = await bootRest();
  });
  afterEach(async () => {
    const streams = server.app.get(OpenStreams);
    await eventually(() => streams.size === 0);
    await server.close();
  });

  describe('agents and sessions', () => {
    it('lists the agents', async () => {
      expect(await (await server.call('GET', '/v1/agents')).json()).toEqual({
        agents: [
          {
            name: 'vision_agent',
            description: 'Looks.',
            capabilities: ['image_generation', 'vision'],
            model: 'offline',
            result_kinds: ['json'],
          },
          { name: 'harness_agent', description: 'Helps.', capabilities: [], model: 'offline', result_kinds: ['text'] },
        ],
      });
    });

    it('creates a session from every field of its body', async () => {
      const response = await server.call('POST', '/v1/sessions', {
        agent: 'vision_agent',
        user_id: 'ann',
        capabilities: ['vision'],
        client_reference: 'order-1001',
        time_zone: 'Asia/Shanghai',
        state: { constructor: 1, a: { b: null } },
        request_id: 'req-0',
      });
      expect(response.status).toBe(201);
      expect(response.headers.get('idempotent-replayed')).toBeNull();
      expect(await response.json()).toEqual({
        id: 'S1',
        created_at: '2026-08-17T09:59:55.000Z',
        status: 'idle',
        capabilities: ['vision'],
        client_reference: 'order-1001',
        agent: 'vision_agent',
        user_id: 'local',
        time_zone: 'Asia/Shanghai',
        updated_at: '2026-08-17T10:01:13.600Z',
        active_run_id: null,
        last_run_id: 'R1',
        state: {},
      });
      expect(server.services.argumentsOf('create')).toEqual([
        {
          agent: 'vision_agent',
          userId: 'ann',
          capabilities: ['vision'],
          clientReference: 'order-1001',
          timeZone: 'Asia/Shanghai',
          state: { constructor: 1, a: { b: null } },
          requestId: 'req-0',
        },
      ]);
      expect(server.services.principal?.tenantId).toBe('default');
    });

    it('creates a session without a body, and says when it was made before', async () => {
      server.services.replaysSession = true;
      const response = await server.call('POST', '/v1/sessions');
      expect(response.status).toBe(201);
      expect(response.headers.get('idempotent-replayed')).toBe('true');
    });

    it('lists sessions by reference and page', async () => {
      const response = await server.call('GET', '/v1/sessions?client_reference=order%201&page_token=p2&limit=7');
      const list = (await response.json()) as { sessions: object[] };
      expect(list).toMatchObject({ next_page_token: 'next', has_more: true });
      expect(list.sessions[0]).not.toHaveProperty('state');
      expect(server.services.argumentsOf('list')).toEqual([{ clientReference: 'order 1', pageToken: 'p2', limit: 7 }]);
    });

    it('refuses a page token that no list gave, before it is read', async () => {
      const response = await server.call('GET', `/v1/sessions?page_token=${'a'.repeat(1025)}`);
      expect([response.status, await response.json()]).toMatchObject([400, { error: { code: 'CURSOR_INVALID' } }]);
      expect(server.services.calls).toEqual([]);
    });

    it('shows the snapshot with or without events', async () => {
      const response = await server.call('GET', '/v1/sessions/S1?events=0&runs=3&before=R9');
      expect(await response.json()).toEqual({
        session: expect.objectContaining({ id: 'S1', state: {} }),
        session_id: 'S1',
        last_run_id: 'R1',
        last_status: 'running',
        runs: [
          {
            run_id: 'R1',
            status: 'running',
            code: 'CALLING_TOOL',
            stage: 'acting',
            capabilities: ['vision'],
            requests: [],
            responses: [],
            events: [],
            input_required: null,
            result: null,
            error: null,
            artifacts: [],
            usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0, cached_tokens: 0, estimated: false },
            attempt: 1,
            mode: 'queue',
            queue_position: null,
            created_at: '2026-08-17T10:00:00.000Z',
            started_at: '2026-08-17T10:00:00.200Z',
            ended_at: null,
          },
        ],
        has_more_runs: false,
      });
      expect(server.services.argumentsOf('snapshot')).toEqual([
        { sessionId: 'S1', runs: 3, before: 'R9', events: false },
      ]);
    });

    it('deletes a session', async () => {
      const response = await server.call('DELETE', '/v1/sessions/S1');
      expect([response.status, await response.json()]).toEqual([202, { id: 'S1', status: 'closed' }]);
      expect(server.services.argumentsOf('closeSession')).toEqual(['S1']);
    });
  });

  describe('actions answered in JSON', () => {
    it('takes a message with everything', async () => {
      const response = await server.call('POST', '/v1/actions', {
        ...MESSAGE,
        resources: [
          { resource_id: 'cover', url: 'https://cdn.example.com/a.png?sig=1', source_type: 'url' },
          { data: 'AQID', mime_type: 'image/png' },
          { data: '-_8', source_type: 'base64' },
          { resource_id: 'used', source_type: 'upload' },
        ],
        time_zone: 'Asia/Shanghai',
        mode: 'reject',
        capabilities: ['vision'],
        response_schema: { type: 'object' },
        on_disconnect: 'cancel',
      });
      expect([response.status, await response.json()]).toEqual([
        202,
        {
          accepted: true,
          session_id: 'S1',
          run_id: 'R1',
          request_id: 'req-1',
          action: 'message',
          mode: 'queue',
          disposition: 'started',
          status: 'queued',
          code: 'RUN_QUEUED',
          stage: 'queued',
          queue_position: 0,
          cursor: 1,
        },
      ]);
      expect(server.services.argumentsOf('submit')).toEqual([
        {
          door: 'v1',
          sessionId: 'S1',
          requestId: 'req-1',
          parts: [
            { kind: 'text', text: 'hi' },
            {
              kind: 'resource',
              resource: { kind: 'url', resourceId: 'cover', url: 'https://cdn.example.com/a.png?sig=1' },
            },
            {
              kind: 'resource',
              resource: { kind: 'bytes', bytes: Buffer.from([1, 2, 3]), mimeType: 'image/png' },
            },
            { kind: 'resource', resource: { kind: 'bytes', bytes: Buffer.from([0xfb, 0xff]) } },
            { kind: 'resource', resource: { kind: 'stored', resourceId: 'used', sourceType: 'upload' } },
          ],
          attached: false,
          // The end of a JSON answer means nothing.
          onDisconnect: 'continue',
          mode: 'reject',
          timeZone: 'Asia/Shanghai',
          capabilities: ['vision'],
          responseSchema: { type: 'object' },
        },
      ]);
    });

    it('leaves one line in the log, with ids and without the text', async () => {
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
      for (const headers of [{ traceparent }, { traceparent, ...SSE }]) {
        const before = server.logger.lines.length;
        await (await server.call('POST', '/v1/actions', MESSAGE, headers)).text();
        expect(server.logger.lines.slice(before)).toEqual([
          {
            level: 'info',
            message: 'action accepted',
            fields: {
              traceId: '0af7651916cd43dd8448eb211c80319c',
              action: 'message',
              sessionId: 'S1',
              runId: 'R1',
              requestId: MESSAGE.request_id,
              disposition: 'started',
            },
          },
        ]);
      }
    });

    it('says that a request was seen before', async () => {
      server.services.receipt = { disposition: 'replayed' };
      const response = await server.call('POST', '/v1/actions', MESSAGE);
      expect([response.status, response.headers.get('idempotent-replayed')]).toEqual([202, 'true']);
      expect(await response.json()).toMatchObject({ disposition: 'replayed' });
    });

    it('cancels: 202 when it was live, 200 when not', async () => {
      const body = { session_id: 'S1', request_id: 'req-c', action: 'cancel', run_id: 'R1', reason: 'enough' };
      const live = await server.call('POST', '/v1/actions', body, SSE);
      expect([live.status, await live.json()]).toEqual([202, expect.objectContaining({ disposition: 'cancelling' })]);
      server.services.receipt = { disposition: 'noop', runId: null, status: null };
      expect((await server.call('POST', '/v1/actions', body)).status).toBe(200);
      expect(server.services.argumentsOf('cancel')[0]).toEqual({
        sessionId: 'S1',
        requestId: 'req-c',
        runId: 'R1',
        reason: 'enough',
      });
    });

    it('observes a page', async () => {
      const body = { session_id: 'S1', action: 'observe', run_id: 'R1', cursor: 8 };
      const page = (await (await server.call('POST', '/v1/actions', body)).json()) as { events: unknown[] };
      expect(page).toMatchObject({ session_id: 'S1', run_id: 'R1', next_cursor: 26, has_more: false });
      expect(page.events[0]).toEqual({
        id: 9,
        type: 'run.progress',
        code: 'CALLING_TOOL',
        stage: 'acting',
        state: 'done',
        time: '2026-08-17T10:00:01.600Z',
        message: '工具步骤结束',
        detail: expect.objectContaining({ type: 'run_end', reason: 'pending' }),
      });
    });
  });

  describe('actions answered by a stream', () => {
    it('streams a message flat until it waits for input', async () => {
      const response = await server.call('POST', '/v1/actions', MESSAGE, SSE);
      expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
      expect(await response.text()).toBe(frames('flat', 1, 10));
      expect(server.services.argumentsOf('submit')).toMatchObject([{ attached: true, onDisconnect: 'continue' }]);
      expect(server.services.argumentsOf('observe')).toEqual([
        { sessionId: 'S1', runId: 'R1', after: 0, stopAtInput: true },
      ]);
      expect(server.services.argumentsOf('disconnected')).toEqual([]);
    });

    it('streams envelopes on demand, and a repeated request from the last id', async () => {
      server.services.receipt = { disposition: 'replayed' };
      const response = await server.call('POST', '/v1/actions?encoding=envelope', MESSAGE, {
        accept: 'application/json;q=0.1, Text/Event-Stream',
        'last-event-id': '7',
      });
      expect(response.headers.get('idempotent-replayed')).toBe('true');
      expect(await response.text()).toBe(frames('envelope', 8, 10));
    });

    it('observes from the larger of cursor and Last-Event-ID', async () => {
      const body = { session_id: 'S1', action: 'observe', run_id: 'R1', cursor: 10 };
      const response = await server.call('POST', '/v1/actions', body, { ...SSE, 'last-event-id': '3' });
      expect(await response.text()).toBe(frames('flat', 11, 26));
    });

    it.each([
      ['nothing', {}, {}, 'continue'],
      ['the header', { 'x-on-disconnect': 'cancel' }, {}, 'cancel'],
      ['the body', {}, { on_disconnect: 'cancel' }, 'cancel'],
      ['the body before the header', { 'x-on-disconnect': 'cancel' }, { on_disconnect: 'continue' }, 'continue'],
    ])('knows what a lost connection means from %s', async (_, headers, fields, expected) => {
      await (await server.call('POST', '/v1/actions', { ...MESSAGE, ...fields }, { ...SSE, ...headers })).text();
      expect(server.services.argumentsOf('submit')).toMatchObject([{ onDisconnect: expected }]);
    });

    it('tells the service when the client of a message left, not when an observer did', async () => {
      server.services.events = EXAMPLE_EVENTS.slice(0, 5);
      server.services.stays = true;
      for (const body of [MESSAGE, { session_id: 'S1', action: 'observe', run_id: 'R1' }]) {
        const text = JSON.stringify(body);
        const socket = await rawConnect(server.port);
        const read = readAll(socket, (all) => all.includes('id: 5'));
        socket.write(
          'POST /v1/actions HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\ncontent-type: application/json\r\n' +
            `content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
        );
        await read;
        socket.destroy();
        const streams = server.app.get(OpenStreams);
        await eventually(() => streams.size === 0);
      }
      await eventually(() => server.services.argumentsOf('disconnected').length > 0);
      expect(server.services.argumentsOf('disconnected')).toEqual(['R1']);
    });

    it('refuses before the first byte, with a status and JSON', async () => {
      server.services.failures.set(
        'submit',
        new AppError('SESSION_BUSY', 'busy', { details: { active_run_id: 'R0' } }),
      );
      const busy = await server.call('POST', '/v1/actions', MESSAGE, SSE);
      expect([busy.status, busy.headers.get('content-type')]).toEqual([409, 'application/json; charset=utf-8']);
      expect(await busy.json()).toEqual({
        error: {
          code: 'SESSION_BUSY',
          message: 'busy',
          trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
          retryable: true,
          request_id: 'req-1',
          details: { active_run_id: 'R0' },
        },
      });
    });

    it('breaks the connection off when it cannot go on', async () => {
      server.services.breaksAfter = 4;
      const response = await server.call('POST', '/v1/actions', MESSAGE, SSE);
      await expect(response.text()).rejects.toThrow();
      await eventually(() => server.logger.lines.some((line) => line.message === 'stream broke'));
    });
  });

  describe('runs', () => {
    it('polls a page', async () => {
      const response = await server.call('GET', '/v1/sessions/S1/runs/R1?cursor=3&limit=2&wait_ms=10');
      expect(await response.json()).toMatchObject({ next_cursor: 5, has_more: true, events: [{ id: 4 }, { id: 5 }] });
      expect(server.services.argumentsOf('page')).toEqual([
        { sessionId: 'S1', runId: 'R1', cursor: 3, limit: 2, waitMs: 10 },
      ]);
    });

    it('follows a run in envelopes to its end, after a block that sets the retry time', async () => {
      const response = await server.call('GET', '/v1/sessions/S1/runs/R1/events');
      expect(await response.text()).toBe(`retry: 2000\n\n${frames('envelope', 1, 26)}`);
      expect(server.services.argumentsOf('observe')).toMatchObject([{ after: 0, stopAtInput: false }]);
    });

    it('goes on from the larger cursor, in the encoding that is asked for', async () => {
      const path = '/v1/sessions/S1/runs/R1/events?cursor=5&encoding=flat';
      const response = await server.call('GET', path, undefined, { 'last-event-id': '24' });
      expect(await response.text()).toBe(`retry: 2000\n\n${frames('flat', 25, 26)}`);
    });

    it('answers 204 when nothing will come', async () => {
      const response = await server.call('GET', '/v1/sessions/S1/runs/R1/events?cursor=26');
      expect([response.status, await response.text()]).toEqual([204, '']);
    });

    it.each([
      ['', 'RUN_NOT_FOUND', 404],
      ['?cursor=abc', 'CURSOR_INVALID', 400],
      ['?cursor=-1', 'CURSOR_INVALID', 400],
      ['?cursor=1e3', 'CURSOR_INVALID', 400],
      ['?cursor=1&cursor=2', 'INVALID_BODY', 400],
      ['?encoding=xml', 'INVALID_BODY', 400],
      ['?ticket=t', 'NOT_IMPLEMENTED', 501],
    ])('refuses events%s with %s', async (query, code, status) => {
      server.services.failures.set('observe', AppError.notFound('run', 'R1'));
      const response = await server.call('GET', `/v1/sessions/S1/runs/R1/events${query}`, undefined, SSE);
      expect([response.status, response.headers.get('content-type')]).toEqual([
        status,
        'application/json; charset=utf-8',
      ]);
      expect(await response.json()).toMatchObject({ error: { code } });
    });

    it.each([['1\u0085data: x'], ['x'], ['1 2']])('refuses Last-Event-ID %j', async (id) => {
      const response = await server.call('GET', '/v1/sessions/S1/runs/R1/events', undefined, { 'last-event-id': id });
      expect([response.status, await response.json()]).toEqual([
        400,
        { error: expect.objectContaining({ code: 'CURSOR_INVALID' }) },
      ]);
    });

    it.each([
      ['limit=0', 'limit must be a whole number from 1 to 500'],
      ['limit=501', 'limit must be a whole number from 1 to 500'],
      ['wait_ms=25001', 'wait_ms must be a whole number from 0 to 25000'],
    ])('refuses ?%s', async (query, message) => {
      const response = await server.call('GET', `/v1/sessions/S1/runs/R1?${query}`);
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { error: { code: 'INVALID_BODY', message } },
      ]);
    });
  });

  describe('routes', () => {
    it.each([
      ['GET', '/v1/sessions/S1/runs/R1/audit'],
      ['GET', '/v1/sessions/S1/runs/R1/deliveries'],
      ['POST', '/v1/sessions/S1/messages'],
      ['POST', '/v1/sessions/S1/steer'],
      ['POST', '/v1/sessions/S1/cancel'],
      ['POST', '/v1/sessions/S1/runs/R1/questions/Q1/answers'],
      ['POST', '/v1/sessions/S1/runs/R1/approvals/c2'],
      ['GET', '/v1/requests/req-1'],
      ['GET', '/v1/artifacts/a1'],
      ['GET', '/v1/runs'],
      ['DELETE', '/v1/users/ann/data'],
      ['POST', '/v1/tickets'],
    ])('%s %s is of a later version', async (method, path) => {
      const response = await server.call(method, path, method === 'POST' ? {} : undefined);
      expect([response.status, await response.json()]).toMatchObject([501, { error: { code: 'NOT_IMPLEMENTED' } }]);
    });

    it.each([
      ['GET', '/v1/sessions/S1%20'],
      ['DELETE', '/v1/sessions/%E3%80%80S1'],
      ['GET', '/v1/sessions/S1/runs/%09R1'],
      ['GET', '/v1/sessions/S1/runs/R1%20/events'],
      ['PUT', '/v1/sessions/S1/resources/%20'],
    ])('%s %s names no id', async (method, path) => {
      const response = await server.call(method, path);
      expect([response.status, await response.json()]).toMatchObject([400, { error: { code: 'ID_INVALID' } }]);
      expect(server.services.calls).toEqual([]);
    });

    it('tells an unknown route from a wrong method', async () => {
      const unknown = await server.call('GET', '/v1/nothing');
      expect([unknown.status, await unknown.json()]).toMatchObject([404, { error: { code: 'ROUTE_NOT_FOUND' } }]);
      const wrong = await server.call('PATCH', '/v1/sessions/S1');
      expect(wrong.headers.get('allow')).toBe('DELETE, GET');
      expect([wrong.status, await wrong.json()]).toMatchObject([
        405,
        { error: { code: 'METHOD_NOT_ALLOWED', details: { allow: 'DELETE, GET' } } },
      ]);
    });
  });
});

describe('/v1 in mode key', () => {
  it('asks for a key, in its own words', async () => {
    const server = await bootRest({ BRIDLE_AUTH_MODE: 'key', BRIDLE_AUTH_KEYS: `k:${'a'.repeat(64)}:t:u` });
    const response = await server.call('GET', '/v1/sessions/S1/runs/R1/events', undefined, SSE);
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(await response.json()).toMatchObject({ error: { code: 'UNAUTHENTICATED', retryable: false } });
    expect(server.services.calls).toEqual([]);
    await server.close();
  });
});
