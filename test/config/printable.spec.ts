import { parseKeyEntry } from '../../src/config/auth-keys.js';
import { isLoopbackHost } from '../../src/config/loopback.js';
import { printable, secretsOf, withoutPassword } from '../../src/config/printable.js';
import { isSecretName } from '../../src/config/secret-names.js';
import { aConfig } from '../support/test-config.js';

const DIGEST = '0123456789abcdef'.repeat(4);

describe('printable', () => {
  it('hides every secret and shows the rest', () => {
    const config = aConfig({
      OPENAI_API_KEY: 'sk-secret',
      DATABASE_URL: 'mysql://bridle:p%40ss@db.example:3306/bridle',
      BRIDLE_AUTH_MODE: 'key',
      BRIDLE_AUTH_KEYS: `ci:${DIGEST}:acme:ann:admin`,
    });
    const shown = printable(config);
    expect(shown).toMatchObject({
      model: { provider: 'openai-compatible', apiKey: '***', name: null },
      database: { url: 'mysql://bridle:***@db.example:3306/bridle', poolSize: 10 },
      auth: { keys: [{ name: 'ci', sha256: '***', tenantId: 'acme', userId: 'ann', scopes: ['admin'] }] },
    });
    const text = JSON.stringify(shown);
    for (const secret of ['sk-secret', 'p%40ss', DIGEST]) expect(text).not.toContain(secret);
    expect(secretsOf(config)).toEqual(['sk-secret', 'p%40ss', 'p@ss']);
  });

  it.each([
    ['sqlite:./data/a@b:c.sqlite', 'sqlite:./data/a@b:c.sqlite'],
    ['mysql://u@h/db', 'mysql://u@h/db'],
    ['mysql://u:a@b@h/db', 'mysql://u:***@h/db'],
  ])('%s is printed as %s', (url, shown) => {
    expect(withoutPassword(url)).toBe(shown);
  });
});

describe('parseKeyEntry', () => {
  it.each([
    `ci:${DIGEST}:acme`,
    `ci:${DIGEST.slice(1)}:acme:ann`,
    `ci:${DIGEST}:acme:ann:write`,
    `ci:${DIGEST}:acme:ann:admin+`,
    `c i:${DIGEST}:acme:ann`,
    '',
  ])('refuses %j', (text) => {
    expect(parseKeyEntry(text)).toBeUndefined();
  });

  it('keeps an e-mail address as user, and a scope with its colon', () => {
    expect(parseKeyEntry(`ci:${DIGEST.toUpperCase()}:acme:ann@example.com:audit:read`)).toEqual({
      name: 'ci',
      sha256: DIGEST,
      tenantId: 'acme',
      userId: 'ann@example.com',
      scopes: ['audit:read'],
    });
  });

  it('is no list when a name or a key comes twice', () => {
    const keys = (...names: string[]): Record<string, string> => ({
      BRIDLE_AUTH_KEYS: names.map((name, index) => `${name}:${String(index).padStart(64, '0')}:t:u`).join(','),
    });
    expect(() => aConfig(keys('a', 'a'))).toThrow(/auth\.keys must be a list/);
    expect(() => aConfig({ BRIDLE_AUTH_KEYS: `a:${DIGEST}:t:u,b:${DIGEST}:t:u` })).toThrow(/auth\.keys must be/);
    expect(aConfig(keys('a', 'b')).auth.keys).toHaveLength(2);
  });
});

describe('isLoopbackHost', () => {
  it.each(['127.0.0.1', '127.9.9.9', 'localhost', '::1', '::ffff:127.0.0.1'])('%s is', (host) => {
    expect(isLoopbackHost(host)).toBe(true);
  });
  it.each(['0.0.0.0', '::', '10.0.0.1', 'localhost.example.com', '128.0.0.1', '127.example.com'])(
    '%s is not',
    (host) => {
      expect(isLoopbackHost(host)).toBe(false);
    },
  );
});

describe('isSecretName', () => {
  it.each([
    'apiKey',
    'X-Api-Key',
    'BRIDLE_MODEL_APIKEY',
    'Authorization',
    'set-cookie',
    'clientSecret',
    'access_token',
    'token',
    'db_password',
    'credentials',
    'X-Goog-Signature',
  ])('%s may be secret', (name) => {
    expect(isSecretName(name)).toBe(true);
  });
  it.each(['inputTokens', 'stepKey', 'page_token', 'maxJsonKeys', 'author', 'key', 'tokens_total', 'passed', 'monkey'])(
    '%s is none',
    (name) => {
      expect(isSecretName(name)).toBe(false);
    },
  );
});
