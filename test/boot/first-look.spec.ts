import { existsSync } from 'node:fs';
import { firstLookCurl } from '../../src/boot/first-look.js';
import { storesUnderTest, useCore } from '../support/core.js';

const memory = storesUnderTest().find(({ name }) => name === 'sqlite in memory')!;

describe('the first look', () => {
  const suite = useCore(memory);

  it('is one curl with a session that exists, the same at every start', async () => {
    const { core } = suite;
    const curl = await firstLookCurl(core.sessions, 'http://127.0.0.1:8000');
    const [, sessionId] = /"session_id":"([0-9a-f-]{36})"/.exec(curl)!;
    const { sessions } = await core.sessions.list(
      { tenantId: 'default', subject: 'local', scopes: new Set(), mode: 'none' },
      { limit: 10 },
    );
    expect(sessions.map((session) => [session.id, session.capabilities])).toEqual([
      [sessionId, ['image_generation', 'vision']],
    ]);
    expect(curl).toContain('curl -N http://127.0.0.1:8000/v1/actions');
    expect(existsSync(/base64 < (\S+)/.exec(curl)![1]!)).toBe(true);
    expect(await firstLookCurl(core.sessions, 'http://127.0.0.1:8000')).toBe(curl);
  });
});
