import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../../src/config/config-error.js';
import { loadConfig } from '../../src/config/load-config.js';
import { LEAVES } from '../../src/config/settings.js';
import { parseYaml } from '../../src/config/yaml-source.js';
import { readFileSync } from 'node:fs';

const folder = mkdtempSync(join(tmpdir(), 'config-'));
const DIGEST = 'a'.repeat(64);

function fileOf(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const withYaml = (text: string): { BRIDLE_CONFIG: string } => ({ BRIDLE_CONFIG: fileOf('own.yaml', text) });

function problemOf(variables: Record<string, string>): string {
  try {
    loadConfig(variables);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    const { message } = error as ConfigError;
    expect(message).not.toContain('\n');
    return message;
  }
  throw new Error('the configuration was accepted');
}

describe('defaults', () => {
  it('come from default.yaml, which holds every key and no other', () => {
    const text = readFileSync(join(import.meta.dirname, '../../config/default.yaml'), 'utf8');
    const keys: string[] = [];
    const walk = (value: object, prefix: string): void => {
      for (const [name, child] of Object.entries(value)) {
        const key = prefix + name;
        if (LEAVES.has(key) || child === null || typeof child !== 'object') keys.push(key);
        else walk(child as object, `${key}.`);
      }
    };
    walk(parseYaml(text, 'default.yaml').value, '');
    expect(keys.sort()).toEqual([...LEAVES.keys()].sort());
  });

  it('are those of the documentation', () => {
    const { config, warnings } = loadConfig({});
    expect(warnings).toEqual([]);
    expect(config.server).toEqual({
      host: '127.0.0.1',
      httpPort: 8000,
      grpcPort: 50051,
      role: 'all',
      publicUrl: undefined,
      shutdownMs: 20_000,
    });
    expect(config.database.url).toBe('sqlite:./data/bridle.sqlite');
    expect(config.model.provider).toBe('offline');
    expect(config.runs.ttlMs).toBe(30 * 24 * 3600 * 1000);
    expect(config.onDisconnect).toEqual({ adk: 'cancel', v1: 'continue', grpc: 'continue' });
    expect(config.http.maxBodyBytes).toBe(32 * 1024 * 1024);
  });

  it('follow storage.dir where they lie in it', () => {
    const { config } = loadConfig({ BRIDLE_STORAGE_DIR: '/var/lib/bridle' });
    expect(config.database.url).toBe('sqlite:/var/lib/bridle/bridle.sqlite');
    expect(config.harness.scriptModel.effectsFile).toBe('/var/lib/bridle/effects.jsonl');
    expect(loadConfig({ BRIDLE_STORAGE_DIR: '/x', BRIDLE_DATABASE_URL: 'sqlite::memory:' }).config.database.url).toBe(
      'sqlite::memory:',
    );
  });

  it('are frozen through and through', () => {
    const { config } = loadConfig({ BRIDLE_AUTH_MODE: 'key', BRIDLE_AUTH_KEYS: `k:${DIGEST}:t:u:admin` });
    expect(() => Object.assign(config, { server: {} })).toThrow(TypeError);
    expect(() => Object.assign(config.runs, { leaseMs: 1 })).toThrow(TypeError);
    expect(() => Object.assign(config.auth.keys[0] ?? {}, { name: 'x' })).toThrow(TypeError);
  });
});

describe('layers', () => {
  it('lays the file over the defaults and the environment over the file', () => {
    const file = withYaml('runs: { leaseMs: 5000, heartbeatMs: 1000 }\nserver:\n  httpPort: 0\n');
    const { runs, server } = loadConfig({ ...file, BRIDLE_RUNS_LEASE_MS: '7000' }).config;
    expect([runs.leaseMs, runs.heartbeatMs, runs.reaperMs, server.httpPort]).toEqual([7000, 1000, 5000, 0]);
  });

  it('reads each kind of value from a variable', () => {
    const { config } = loadConfig({
      BRIDLE_EVENTS_COALESCE: 'false',
      BRIDLE_FETCH_ALLOW_HOSTS: 'a.example, b.example:8443 ,[::1]:80',
      BRIDLE_HTTP_TRUST_PROXY: '10.0.0.0/8,loopback',
      BRIDLE_SERVER_PUBLIC_URL: 'https://agents.example.com/base',
      BRIDLE_LOG_LEVEL: '',
    });
    expect(config.events.coalesce).toBe(false);
    expect(config.fetch.allowHosts).toEqual(['a.example', 'b.example:8443', '[::1]:80']);
    expect(config.http.trustProxy).toEqual(['10.0.0.0/8', 'loopback']);
    expect(config.server.publicUrl).toBe('https://agents.example.com/base');
    expect(config.log.level).toBe('info');
    expect(loadConfig({ BRIDLE_HTTP_TRUST_PROXY: '2' }).config.http.trustProxy).toBe(2);
    expect(loadConfig({ BRIDLE_HTTP_TRUST_PROXY: 'true' }).config.http.trustProxy).toBe(true);
  });

  it('leaves alone what the test suite and Kubernetes put there', () => {
    const links = {
      BRIDLE_PORT: 'tcp://10.0.0.1:80',
      BRIDLE_SERVICE_HOST: '10.0.0.1',
      BRIDLE_PORT_80_TCP_ADDR: '10.0.0.1',
    };
    expect(
      loadConfig({ ...links, KUBERNETES_SERVICE_HOST: '10.0.0.1', BRIDLE_TEST_FULL: '1' }).config.server.httpPort,
    ).toBe(8000);
    expect(problemOf(links)).toContain('BRIDLE_PORT');
  });
});

describe('refusals', () => {
  it.each<[string, Record<string, string>, string[]]>([
    ['an unknown variable', { BRIDLE_RUNS_LEASEMS: '5' }, ['BRIDLE_RUNS_LEASEMS', '"5"', 'BRIDLE_RUNS_LEASE_MS']],
    ['a number too small', { BRIDLE_RUNS_LEASE_MS: '50' }, ['runs.leaseMs', '50', 'from 1000', 'BRIDLE_RUNS_LEASE_MS']],
    ['a fraction', { BRIDLE_LIMITS_MAX_TURNS: '1.5' }, ['limits.maxTurns', '"1.5"', 'whole number']],
    ['a bad port', { BRIDLE_SERVER_HTTP_PORT: '65536' }, ['server.httpPort', '0 to 65535']],
    ['a bad choice', { BRIDLE_SERVER_ROLE: 'both' }, ['server.role', '"both"', 'all, api, worker']],
    ['a bad flag', { BRIDLE_EVENTS_COALESCE: 'yes' }, ['events.coalesce', '"yes"', 'true or false']],
    ['a database of another kind', { DATABASE_URL: 'postgres://h/db' }, ['database.url', 'DATABASE_URL', 'mysql://']],
    ['a URL as a host', { BRIDLE_FETCH_ALLOW_HOSTS: 'http://a/b' }, ['fetch.allowHosts', 'host:port']],
    ['a bad proxy block', { BRIDLE_HTTP_TRUST_PROXY: '10.0.0.0/33' }, ['http.trustProxy', 'hop count']],
    ['a bad origin', { BRIDLE_HTTP_ALLOW_ORIGINS: 'https://a.example/' }, ['http.allowOrigins']],
    [
      'an unbuilt profile',
      { BRIDLE_PROFILE_ADK: 'parity' },
      ['profile.adk', 'parity', 'not in this version', 'native'],
    ],
    ['an unbuilt mode', { BRIDLE_AUTH_MODE: 'oauth' }, ['auth.mode', 'oauth', 'not in this version', 'none, key']],
    ['an unknown provider', { BRIDLE_MODEL_PROVIDER: 'gemini' }, ['model.provider', 'gemini', 'anthropic, google']],
    [
      'a proxy of another kind',
      { HTTPS_PROXY: 'socks5://h:1080' },
      ['proxy.httpsUrl', 'HTTPS_PROXY', 'http://host:port'],
    ],
    [
      'two proxies for one thing',
      { HTTP_PROXY: 'http://u:secret@a:1', http_proxy: 'http://b:1' },
      ['proxy.httpUrl', 'HTTP_PROXY', 'http_proxy', '***'],
    ],
    ['an open door', { BRIDLE_SERVER_HOST: '0.0.0.0' }, ['server.host', '0.0.0.0', 'auth.allowOpen']],
    ['a door nobody can open', { BRIDLE_AUTH_MODE: 'key' }, ['auth.keys', 'auth.mode key']],
    ['a slow heartbeat', { BRIDLE_RUNS_HEARTBEAT_MS: '20000' }, ['runs.heartbeatMs', '30000', '20000']],
    ['one port for two', { BRIDLE_SERVER_GRPC_PORT: '8000' }, ['server.httpPort', 'server.grpcPort', '8000']],
    ['a missing file', { BRIDLE_CONFIG: '/nowhere/own.yaml' }, ['/nowhere/own.yaml', 'ENOENT']],
  ])('%s', (_, variables, parts) => {
    const problem = problemOf(variables);
    for (const part of parts) expect(problem).toContain(part);
  });

  it.each([
    [
      'an unknown key',
      'server:\n  host: localhost\nruns:\n  leaseMS: 5000\n',
      ['runs.leaseMS', 'own.yaml line 4', 'runs.leaseMs'],
    ],
    ['an unknown section', 'sever: { host: localhost }\n', ['sever', 'own.yaml line 1', 'server']],
    ['a value for a section', 'runs: 5\n', ['runs must be a section', '5']],
    ['a number as a text', 'runs:\n  leaseMs: "5000"\n', ['runs.leaseMs', '"5000"', 'own.yaml line 2']],
    ['an empty number', 'runs:\n  leaseMs:\n', ['runs.leaseMs', 'null']],
    ['a repeated key', 'runs:\n  leaseMs: 5000\n  leaseMs: 6000\n', ['own.yaml line 3', 'not valid YAML']],
    ['broken YAML', 'runs: [\n', ['own.yaml line', 'not valid YAML']],
    ['a list', '- a\n', ['own.yaml', 'keys and values']],
  ])('%s in a file', (_, text, parts) => {
    const problem = problemOf(withYaml(text));
    for (const part of parts) expect(problem).toContain(part);
  });

  it('accepts an open door that is asked for in words, and warns', () => {
    const { config, warnings } = loadConfig({ BRIDLE_SERVER_HOST: '0.0.0.0', BRIDLE_AUTH_ALLOW_OPEN: 'true' });
    expect(config.server.host).toBe('0.0.0.0');
    expect(warnings).toEqual([expect.stringContaining('auth.allowOpen')]);
  });

  it('warns of an api or worker alone on SQLite', () => {
    expect(loadConfig({ BRIDLE_SERVER_ROLE: 'api' }).warnings).toEqual([expect.stringContaining('server.role is api')]);
    expect(loadConfig({ BRIDLE_SERVER_ROLE: 'api', BRIDLE_DATABASE_URL: 'mysql://u:p@h/d' }).warnings).toEqual([]);
  });
});

describe('secrets', () => {
  it('are refused in a file, and read from a file of their own', () => {
    expect(problemOf(withYaml('model: { apiKey: sk-very-secret }\n'))).toMatch(
      /^model\.apiKey holds a secret in .*BRIDLE_MODEL_API_KEY/,
    );
    expect(problemOf(withYaml('database: { url: "mysql://u:pw@h/db" }\n'))).toContain('database.url holds a secret');
    expect(loadConfig(withYaml('database: { url: "mysql://u@h/db" }\n')).config.database.url).toBe('mysql://u@h/db');
    const secret = fileOf('model-key', 'sk-from-file\n');
    expect(loadConfig({ BRIDLE_MODEL_API_KEY: `@${secret}` }).config.model.apiKey).toBe('sk-from-file');
    expect(loadConfig(withYaml(`model: { apiKey: "@${secret}" }\n`)).config.model.apiKey).toBe('sk-from-file');
    expect(problemOf({ BRIDLE_MODEL_API_KEY: '@/nowhere/key' })).toContain('/nowhere/key');
  });

  it('never stand in a message', () => {
    const problems = [
      problemOf({ BRIDLE_MODEL_APIKEY: 'sk-very-secret' }),
      problemOf({ BRIDLE_MODEL_API_KEY: 'sk-very-secret', OPENAI_API_KEY: 'sk-very-secret-2' }),
      problemOf({ BRIDLE_DATABASE_URL: 'mysqlx://u:sk-very-secret@h/db' }),
      problemOf({ BRIDLE_AUTH_KEYS: 'sk-very-secret' }),
      problemOf(withYaml('model: { apiKey: sk-very-secret }\n')),
    ];
    expect(problems.join('\n')).not.toContain('sk-very-secret');
  });

  it('of callers may stand in a file, since only their digests do', () => {
    const list = fileOf('keys', `a:${DIGEST}:acme:ann:audit:read+admin\nb:${'B'.repeat(64)}:acme:bob\n`);
    const fromFile = loadConfig({ BRIDLE_AUTH_MODE: 'key', BRIDLE_AUTH_KEYS: `@${list}` }).config.auth.keys;
    expect(fromFile).toEqual([
      { name: 'a', sha256: DIGEST, tenantId: 'acme', userId: 'ann', scopes: ['audit:read', 'admin'] },
      { name: 'b', sha256: 'b'.repeat(64), tenantId: 'acme', userId: 'bob', scopes: [] },
    ]);
    const yaml = withYaml(
      `auth:\n  mode: key\n  keys: ["a:${DIGEST}:acme:ann:audit:read+admin", "b:${'B'.repeat(64)}:acme:bob"]\n`,
    );
    expect(loadConfig(yaml).config.auth.keys).toEqual(fromFile);
  });
});
