import { AdkClient, SESSIONS, strictFrames, textsOf } from '../../support/adk-client.js';
import { answerReply, FakeLlm } from '../../support/fake-llm.js';
import { startServer, type TestServer } from '../../support/server.js';
import { pathOf, V1Client, type RunKey } from '../../support/v1-client.js';

const STREAM = { accept: 'text/event-stream' };

describe('field cases of streams', () => {
  let llm: FakeLlm;
  let server: TestServer;
  let v1: V1Client;
  let adk: AdkClient;

  beforeAll(async () => {
    llm = await FakeLlm.start({ strict: true });
    server = await startServer({ env: llm.env });
    v1 = new V1Client(server);
    adk = new AdkClient(Number(new URL(server.http).port));
  });

  beforeEach(() => llm.reset());

  afterAll(async () => {
    await server.dispose();
    await llm.close();
  });

  describe('C45 what is wrong is known before the stream', () => {
    it.each([
      ['GET', '/v1/sessions/s1/runs/does-not-exist/events', undefined, 404, { error: { code: 'SESSION_NOT_FOUND' } }],
      ['POST', '/v1/actions', '{"action":', 400, { error: { code: 'INVALID_BODY' } }],
      ['POST', '/run_sse', '{"appName":', 422, { detail: [{ type: 'json_invalid' }] }],
      ['POST', '/run_sse', '{}', 422, { detail: [{ type: 'missing' }] }],
      ['GET', '/no/such/route', undefined, 404, { detail: 'Not Found' }],
    ])('%s %s %s: %d', async (method, path, body, status, shape) => {
      const response = await fetch(server.http + path, {
        method,
        headers: { ...STREAM, 'content-type': 'application/json' },
        ...(body !== undefined && { body }),
      });
      const answer: unknown = await response.json();
      expect([response.status, answer]).toEqual([status, expect.objectContaining(matching(shape))]);
      expect(response.headers.get('content-type')).toMatch(/^application\/json/);
      expect(answer).not.toHaveProperty('statusCode');
    });

    it('and nothing was answered twice', () => {
      expect(server.logs()).not.toContain('ERR_HTTP_HEADERS_SENT');
    });
  });

  describe('C51 a text cannot forge a frame', () => {
    const evil = 'a\rdata: {"error":"pwn"}\n\nevent: run.completed\ndata: {}\n\nid: 99\n\u2028\u2029\u0000end';

    it('on the ADK wire', async () => {
      llm.script(answerReply(evil));
      const session = await adk.session();
      const frames = strictFrames(await (await adk.say(session, 'hi', { streaming: true })).text());
      expect(frames.map((frame) => [frame['partial'], ...textsOf(frame)])).toEqual([
        [true, evil],
        [false, evil],
      ]);
      expect(textsOf((await adk.events(session)).at(-1))).toEqual([evil]);
    });

    it('on the flat and on the envelope stream', async () => {
      llm.script(answerReply(evil));
      const sessionId = await v1.session();
      const flat = await v1.stream(v1.message(sessionId, 'hi'));
      const run: RunKey = { sessionId, runId: (JSON.parse(flat[0]!.data) as { run_id: string }).run_id };
      const envelopes = await v1.follow(run);
      for (const frames of [flat, envelopes]) {
        expect(frames.filter((frame) => frame.event === 'run.completed')).toEqual([frames.at(-1)]);
        expect(frames.map((frame) => frame.id)).not.toContain('99');
      }
      expect(JSON.parse(flat.at(-1)!.data)).toMatchObject({ result: { data: { text: evil } } });
    });

    it('nor can an id, a header or a query', async () => {
      llm.script(answerReply('x'));
      const run = await v1.send(await v1.session(), 'hi');
      const message = v1.message('a\r\ndata: x', 'hi');
      expect(await v1.call('POST', '/v1/actions', message, STREAM)).toMatchObject({
        status: 400,
        body: { error: { code: 'ID_INVALID' } },
      });
      const events = `${pathOf(run)}/events`;
      for (const id of ['1%0Adata: x', '1 data: x', '-1', '1.5']) {
        const answer = await v1.call('GET', events, undefined, { 'last-event-id': id });
        expect(answer).toMatchObject({ status: 400, body: { error: { code: 'CURSOR_INVALID' } } });
      }
      const path = '/apps/harness_agent/users/u%0d%0adata:%20x/sessions';
      expect((await adk.request('POST', path, {})).status).toBe(404);
      expect((await adk.request('POST', SESSIONS, { sessionId: 'a\r\nb' })).status).toBe(422);
      const body = { appName: 'a\r\ndata: x', userId: 'u1', sessionId: 's1', newMessage: { parts: [{ text: 'x' }] } };
      expect([404, 422]).toContain((await adk.request('POST', '/run_sse', body)).status);
    });
  });
});

/** The shape as a matcher: lists match by their first element. */
function matching(shape: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(shape).map(([key, value]) => {
      if (Array.isArray(value))
        return [key, expect.arrayContaining(value.map((item) => expect.objectContaining(item)))];
      return [key, typeof value === 'object' ? expect.objectContaining(value as object) : value];
    }),
  );
}
