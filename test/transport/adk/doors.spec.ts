import 'reflect-metadata';
import { createHash } from 'node:crypto';
import sharp from 'sharp';
import type { JsonObject } from '../../../src/common/json.js';
import { startGoldenApp, type GoldenApp } from '../../support/adk-golden/golden-app.js';
import { rawConnect } from '../../support/raw-http.js';

/** The booted server; the text of a message is a script of the model (test/support/adk-golden/script-models.ts). */

const KEY = 'test-key';
const SESSIONS = '/apps/harness_agent/users/u1/sessions';

interface Frame extends JsonObject {
  readonly content: { readonly parts: readonly JsonObject[] };
}

class Client {
  private count = 0;

  constructor(
    readonly port: number,
    private readonly headers: Readonly<Record<string, string>> = {},
  ) {}

  request(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.port}${path}`, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...this.headers, ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  async session(id = `s-${(this.count += 1)}`): Promise<string> {
    expect((await this.request('POST', SESSIONS, { sessionId: id })).status).toBe(200);
    return id;
  }

  run(
    sessionId: string,
    parts: unknown,
    more: object = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const body = { appName: 'harness_agent', userId: 'u1', sessionId, newMessage: { parts }, ...more };
    return this.request('POST', '/run_sse', body, headers);
  }

  say(sessionId: string, text: string, more: object = {}): Promise<Response> {
    return this.run(sessionId, [{ text }], more);
  }

  async events(sessionId: string): Promise<Frame[]> {
    const response = await this.request('GET', `${SESSIONS}/${sessionId}`);
    return ((await response.json()) as { events: Frame[] }).events;
  }
}

/** Frames as the strictest client reads them: blocks that begin with `data: ` and hold one line of JSON. */
function strictFrames(text: string): JsonObject[] {
  expect(text.endsWith('\n\n')).toBe(true);
  return text
    .slice(0, -2)
    .split('\n\n')
    .map((block) => {
      expect(block).toMatch(/^data: [^\n\r]+$/);
      return JSON.parse(block.slice('data: '.length)) as JsonObject;
    });
}

const textsOf = (frame: JsonObject | undefined): unknown[] =>
  (frame as Frame).content.parts.map((part) => part['text']);

const until = async (isSo: () => Promise<boolean>): Promise<void> => {
  for (let waited = 0; waited < 10_000; waited += 50) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('it did not come true within 10 s');
};

describe('the ADK doors', () => {
  let app: GoldenApp;
  let client: Client;
  beforeAll(async () => {
    app = await startGoldenApp('adk', {}, { realIntake: true });
    client = new Client(app.port);
  });
  afterAll(() => app.close());

  describe('POST /run_sse', () => {
    it('tells a failure inside the run from a success, and keeps what came before', async () => {
      const id = await client.session();
      const frames = strictFrames(await (await client.say(id, 'errmid', { streaming: true })).text());
      expect(frames.slice(0, 2).map(textsOf)).toEqual([['par'], ['tial']]);
      expect(frames.slice(2)).toEqual([
        expect.objectContaining({ errorCode: 'PROVIDER_ERROR', errorMessage: 'boom: mid stream' }),
        { error: 'boom: mid stream' },
      ]);
      const stored = await client.events(id);
      expect(stored).toHaveLength(2);
      expect(textsOf(stored[0])).toEqual(['errmid']);
      expect(stored[1]).toEqual(frames[2]);
    });

    it('refuses with a status before the first byte', async () => {
      const accept = { accept: 'text/event-stream' };
      const unknown = await client.run('never-made', [{ text: 'say:x' }], {}, accept);
      expect([unknown.status, await unknown.json()]).toEqual([404, { detail: 'Session not found' }]);
      const invalid = await client.run('s', 'not a list', {}, accept);
      expect(invalid.status).toBe(422);
      expect(await invalid.json()).toMatchObject({
        detail: [{ type: 'list_type', loc: ['body', 'newMessage', 'parts'] }],
      });
      const broken = await fetch(`http://127.0.0.1:${app.port}/run_sse`, {
        method: 'POST',
        body: '{',
        headers: accept,
      });
      expect(broken.status).toBe(422);
    });

    it('sends each text once: deltas, then one aggregate a turn', async () => {
      const id = await client.session();
      const script = 'saytool:{"name":"add","args":{"a":1,"b":2},"id":"call_1"}';
      const frames = strictFrames(await (await client.say(id, script, { streaming: true })).text());
      const aggregates = frames.filter((frame) => frame['partial'] !== true);
      const partials = frames.filter((frame) => frame['partial'] === true);
      expect(partials.flatMap(textsOf).join('')).toBe('let me lookdone: {"results":[{"result":3}]}');
      expect(aggregates).toHaveLength(3);
      expect(new Set(frames.map(({ id: eventId }) => eventId)).size).toBe(frames.length);
      expect((await client.events(id)).slice(1)).toEqual(aggregates);
      const [echo] = strictFrames(await (await client.say(id, 'echo')).text());
      expect(String(textsOf(echo)[0]).split('let me look')).toHaveLength(2);
      expect(strictFrames(await (await client.say(await client.session(), script)).text())).toHaveLength(3);
    });

    it('writes one frame at a time, pings as blocks of their own', async () => {
      const pinging = await startGoldenApp('adk', { BRIDLE_EVENTS_PING_MS: '100' });
      const quick = new Client(pinging.port);
      const id = await quick.session();
      const chunks = await rawChunks(pinging.port, {
        appName: 'harness_agent',
        userId: 'u1',
        sessionId: id,
        newMessage: { parts: [{ text: 'slowtool:350' }] },
      });
      await pinging.close();
      expect(chunks.filter((chunk) => chunk === ': ping\n\n').length).toBeGreaterThanOrEqual(2);
      for (const chunk of chunks) expect(chunk).toMatch(/^(: ping|data: [^\n]+)\n\n$/);
      expect(chunks.filter((chunk) => chunk.startsWith('data: '))).toHaveLength(3);
    });

    it('cancels the run of a client that hangs up, and closes its open call', async () => {
      const id = await client.session();
      await hangUp(client, id, 'slowtool:60000');
      await until(async () => (await client.events(id)).length === 3);
      const stored = await client.events(id);
      expect(stored[2]?.content.parts[0]).toMatchObject({
        functionResponse: { name: 'sleep', response: { error: 'cancelled' } },
      });
      expect(strictFrames(await (await client.say(id, 'say:again')).text()).map(textsOf)).toEqual([['again']]);
    });

    it('lets the run go on when its client asks for that', async () => {
      const id = await client.session();
      await hangUp(client, id, 'slowtool:300', { 'x-on-disconnect': 'continue' });
      await until(async () => (await client.events(id)).length === 4);
      expect(textsOf((await client.events(id))[3])).toEqual(['done: {"results":[{"slept":300}]}']);
    });

    it('runs the alias `harness`, and refuses overrides after it has checked them', async () => {
      const id = await client.session();
      const aliased = await client.say(id, 'say:hi', { appName: 'harness', harness: {} });
      expect(strictFrames(await aliased.text()).map(textsOf)).toEqual([['hi']]);
      const nulled = await client.say(id, 'say:hi', { harness: { max_llm_calls: null, unknown: 1 } });
      expect(nulled.status).toBe(200);
      await nulled.text();
      const refused = await client.say(id, 'say:hi', { harness: { tools: '' } });
      expect([refused.status, await refused.json()]).toEqual([
        501,
        { detail: 'harness overrides are not available in this version' },
      ]);
      expect((await client.say(id, 'say:hi', { harness: { tools: null } })).status).toBe(422);
    });
  });

  describe('pictures', () => {
    const picture = (edge: number, noise = false): Promise<Buffer> =>
      (noise
        ? sharp(createNoise(edge), { raw: { width: edge, height: edge, channels: 3 } })
        : sharp({ create: { width: edge, height: edge, channels: 3, background: 'red' } })
      )
        .png()
        .toBuffer();

    it('reach the model and come back with the session, the larger ones by reference', async () => {
      const id = await client.session();
      const [small, large] = [await picture(8), await picture(200, true)];
      expect(large.length).toBeGreaterThan(32 * 1024);
      const parts = [
        { text: 'image' },
        { inlineData: { data: small.toString('base64'), mimeType: 'image/jpeg', displayName: 'a.png' } },
        { inline_data: { data: large.toString('base64url') } },
      ];
      const frames = strictFrames(await (await client.run(id, parts)).text());
      expect(textsOf(frames[0])).toEqual([
        `mime=image/png bytes=${small.length}; mime=image/png bytes=${large.length}`,
      ]);
      const [stored] = await client.events(id);
      const [, inline, linked] = stored?.content.parts as { inlineData?: { data: string }; fileData?: object }[];
      expect(inline).toMatchObject({ inlineData: { displayName: 'a.png', mimeType: 'image/png' } });
      const back = Buffer.from(inline?.inlineData?.data ?? '', 'base64url');
      expect(createHash('sha256').update(back).digest('hex')).toBe(createHash('sha256').update(small).digest('hex'));
      expect(linked).toEqual({ fileData: { fileUri: expect.stringMatching(/^resource:\/\//), mimeType: 'image/png' } });
    });

    it.each([
      ['a PDF', '%PDF-1.7\n'],
      ['HTML', '<html><body>hi</body></html>'],
      ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
      ['nothing', ''],
      ['a cut picture', '\u0089PNG\r\n\u001a\n\u0000\u0000'],
    ])('are judged by their bytes: %s is 422 at its data', async (_, bytes) => {
      const id = await client.session();
      const data = Buffer.from(bytes, 'latin1').toString('base64');
      const parts = [{ text: 'image' }, { inlineData: { mimeType: 'image/png', data } }];
      const response = await client.run(id, parts);
      expect(response.status).toBe(422);
      const { detail } = (await response.json()) as { detail: { type: string; loc: unknown; msg: string }[] };
      expect(detail).toHaveLength(1);
      expect(detail[0]).toMatchObject({
        type: 'value_error',
        loc: ['body', 'newMessage', 'parts', 1, 'inlineData', 'data'],
      });
      expect(detail[0]?.msg).toMatch(/^Value error, .*picture/);
      expect(await client.events(id)).toEqual([]);
    });

    it.each(['gs://b/x', 'file:///etc/passwd', 'resource://x'])('are not fetched from %s', async (fileUri) => {
      const response = await client.run(await client.session(), [{ file_data: { file_uri: fileUri } }]);
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({
        detail: [
          { type: 'value_error', loc: ['body', 'newMessage', 'parts', 0, 'file_data', 'file_uri'], input: fileUri },
        ],
      });
    });

    it('from a blocked address fail the run in the stream', async () => {
      const id = await client.session();
      const parts = [{ text: 'image' }, { fileData: { fileUri: 'http://127.0.0.1:9/a.png?token=planted' } }];
      const text = await (await client.run(id, parts)).text();
      expect(strictFrames(text).map((frame) => Object.keys(frame)[0])).toEqual(['errorCode', 'error']);
      expect(text + JSON.stringify(await client.events(id))).not.toContain('planted');
    });
  });

  describe('sessions', () => {
    it('are told apart by every byte of their id', async () => {
      await client.session('s-42');
      const again = await client.request('POST', SESSIONS, { sessionId: ' s-42 ' });
      expect([again.status, await again.json()]).toEqual([409, { detail: 'Session already exists: s-42' }]);
      await client.session('S-42');
      expect(
        (await client.request('POST', '/apps/harness_agent/users/u2/sessions', { sessionId: 's-42' })).status,
      ).toBe(200);
      expect((await client.say('s-43', 'say:x')).status).toBe(404);
      for (const length of [255, 256]) await client.session('x'.repeat(length));
      expect((await client.request('POST', SESSIONS, { sessionId: 'x'.repeat(257) })).status).toBe(422);
      expect((await client.request('GET', `${SESSIONS}/${'x'.repeat(257)}`)).status).toBe(404);
    });

    it('keep every character', async () => {
      const user = encodeURIComponent('ü😀');
      const text = '😀👨‍👩‍👧 𠮷\u0000';
      const created = await client.request('POST', `/apps/harness_agent/users/${user}/sessions`, {
        sessionId: 'fix',
        state: { text },
      });
      expect(await created.json()).toMatchObject({ userId: 'ü😀', state: { text } });
      const body = {
        appName: 'harness_agent',
        userId: 'ü😀',
        sessionId: 'fix',
        newMessage: { parts: [{ text: `say:${text}` }] },
      };
      const frames = strictFrames(await (await client.request('POST', '/run_sse', body)).text());
      expect(frames.map(textsOf)).toEqual([[text]]);
      const broken = await client.request('POST', SESSIONS, { state: { text: '\ud83d' } });
      expect([broken.status, await broken.json()]).toEqual([400, { detail: 'There was an error parsing the body' }]);
    });

    it('are gone after DELETE, which answers null', async () => {
      const id = await client.session();
      const removed = await client.request('DELETE', `${SESSIONS}/${id}`);
      expect([removed.status, await removed.text()]).toEqual([200, 'null']);
      expect((await client.request('GET', `${SESSIONS}/${id}`)).status).toBe(404);
      expect((await client.say(id, 'say:x')).status).toBe(404);
    });
  });
});

describe('the ADK doors behind a key', () => {
  let app: GoldenApp;
  beforeAll(async () => {
    const hash = createHash('sha256').update(KEY).digest('hex');
    app = await startGoldenApp('adk', { BRIDLE_AUTH_MODE: 'key', BRIDLE_AUTH_KEYS: `test:${hash}:acme:ann` });
  });
  afterAll(() => app.close());

  it('let only probes through without it', async () => {
    const stranger = new Client(app.port);
    for (const path of ['/health', '/ping']) expect((await stranger.request('GET', path)).status).toBe(200);
    for (const [method, path] of [
      ['GET', '/version'],
      ['GET', '/list-apps'],
      ['GET', SESSIONS],
      ['POST', '/run_sse'],
    ] as const) {
      const response = await stranger.request(method, path, method === 'POST' ? {} : undefined);
      expect([response.status, await response.json()]).toEqual([401, { error: 'AUTH_REQUIRED' }]);
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  it('run as the user of the request', async () => {
    const client = new Client(app.port, { authorization: `Bearer ${KEY}` });
    const id = await client.session();
    expect(strictFrames(await (await client.say(id, 'say:hi')).text()).map(textsOf)).toEqual([['hi']]);
  });
});

/** Reads the chunks of a streamed answer as they were written. */
async function rawChunks(port: number, body: object): Promise<string[]> {
  const socket = await rawConnect(port);
  const text = JSON.stringify(body);
  const head = [
    'POST /run_sse HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    'Content-Type: application/json',
    'Connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  let answer = '';
  for await (const bytes of socket) answer += (bytes as Buffer).toString('utf8');
  return [...answer.slice(answer.indexOf('\r\n\r\n') + 4).matchAll(/[0-9a-f]+\r\n([^\r]*)\r\n/g)]
    .map((match) => match[1] ?? '')
    .filter((chunk) => chunk !== '');
}

/** Starts a run and closes the connection once its first frame came. */
async function hangUp(
  client: Client,
  sessionId: string,
  text: string,
  headers: Record<string, string> = {},
): Promise<void> {
  const response = await client.run(sessionId, [{ text }], {}, headers);
  const reader = response.body?.getReader();
  await reader?.read();
  await reader?.cancel();
}

function createNoise(edge: number): Buffer {
  const bytes = Buffer.alloc(edge * edge * 3);
  for (let at = 0, seed = 1; at < bytes.length; at += 1) bytes[at] = (seed = (seed * 16_807) % 2_147_483_647) % 256;
  return bytes;
}
