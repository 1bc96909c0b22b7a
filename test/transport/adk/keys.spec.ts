import 'reflect-metadata';
import { createHash } from 'node:crypto';
import { AdkClient, SESSIONS, strictFrames, textsOf } from '../../support/adk-client.js';
import { startGoldenApp, type GoldenApp } from '../../support/adk-golden/golden-app.js';

const KEY = 'test-key';

describe('the ADK doors behind a key', () => {
  let app: GoldenApp;
  beforeAll(async () => {
    const hash = createHash('sha256').update(KEY).digest('hex');
    app = await startGoldenApp('adk', { BRIDLE_AUTH_MODE: 'key', BRIDLE_AUTH_KEYS: `test:${hash}:acme:ann` });
  });
  afterAll(() => app.close());

  it('let only probes through without it', async () => {
    const stranger = new AdkClient(app.port);
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

  it('stay closed to pages of other sites, with a key too', async () => {
    const page = new AdkClient(app.port, { authorization: `Bearer ${KEY}`, origin: 'https://evil.example' });
    const response = await page.request('POST', SESSIONS, {});
    expect([response.status, await response.text()]).toEqual([403, 'Forbidden: origin not allowed']);
  });

  it('run as the user of the request', async () => {
    const client = new AdkClient(app.port, { authorization: `Bearer ${KEY}` });
    const id = await client.session();
    expect(strictFrames(await (await client.say(id, 'say:hi')).text()).map(textsOf)).toEqual([['hi']]);
  });
});
