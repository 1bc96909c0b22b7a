import 'reflect-metadata';
import { AdkClient, hangUp, strictFrames, textsOf, until } from '../../support/adk-client.js';
import { startGoldenApp, type GoldenApp } from '../../support/adk-golden/golden-app.js';
import { rawConnect } from '../../support/raw-http.js';

/** The booted server; the text of a message is a script of the model (adk-golden/adk-script-model.ts). */

describe('POST /run_sse', () => {
  let app: GoldenApp;
  let client: AdkClient;
  beforeAll(async () => {
    app = await startGoldenApp('adk', {}, { realIntake: true });
    client = new AdkClient(app.port);
  });
  afterAll(() => app.close());

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
    const quick = new AdkClient(pinging.port);
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
