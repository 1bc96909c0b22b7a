import 'reflect-metadata';
import { AdkClient, SESSIONS, strictFrames, textsOf } from '../../support/adk-client.js';
import { CollectingLogger } from '../../support/http-app.js';
import { startGoldenApp, type GoldenApp } from '../../support/adk-golden/golden-app.js';

/** The booted server; the text of a message is a script of the model (adk-golden/adk-script-model.ts). */

describe('ADK sessions', () => {
  let app: GoldenApp;
  let client: AdkClient;
  beforeAll(async () => {
    app = await startGoldenApp('adk', {}, { realIntake: true });
    client = new AdkClient(app.port);
  });
  afterAll(() => app.close());

  it('are told apart by every byte of their id', async () => {
    await client.session('s-42');
    const again = await client.request('POST', SESSIONS, { sessionId: ' s-42 ' });
    expect([again.status, await again.json()]).toEqual([409, { detail: 'Session already exists: s-42' }]);
    await client.session('S-42');
    expect((await client.request('POST', '/apps/harness_agent/users/u2/sessions', { sessionId: 's-42' })).status).toBe(
      200,
    );
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

  it('leave a line in the log when they are made and when they are deleted', async () => {
    const logger = new CollectingLogger();
    const logged = await startGoldenApp('adk', {}, { logger });
    const other = new AdkClient(logged.port);
    const id = await other.session();
    expect((await other.request('POST', `${SESSIONS}/old-form`, {})).status).toBe(200);
    expect((await other.request('POST', SESSIONS, { sessionId: id })).status).toBe(409);
    for (let times = 0; times < 2; times += 1) await other.request('DELETE', `${SESSIONS}/${id}`);
    await logged.close();
    const lines = logger.lines.filter(({ message }) => message.startsWith('session '));
    expect(lines.map(({ level, message }) => [level, message])).toEqual([
      ['info', 'session created'],
      ['info', 'session created'],
      ['info', 'session deleted'],
    ]);
    const facts = lines.map(({ fields }) => fields);
    for (const fields of facts) expect(fields['traceId']).toMatch(/^\w+/);
    expect(facts[2]?.['sessionId']).toBe(facts[0]?.['sessionId']);
    expect(new Set(facts.map(({ traceId }) => traceId)).size).toBe(3);
  });

  it('are gone after DELETE, which answers null', async () => {
    const id = await client.session();
    const removed = await client.request('DELETE', `${SESSIONS}/${id}`);
    expect([removed.status, await removed.text()]).toEqual([200, 'null']);
    expect((await client.request('GET', `${SESSIONS}/${id}`)).status).toBe(404);
    expect((await client.say(id, 'say:x')).status).toBe(404);
  });
});
