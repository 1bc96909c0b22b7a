import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mysqlUnderTest } from '../support/databases.js';
import { runServerToEnd, startServer } from '../support/server.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { V1Client } from '../support/v1-client.js';

describe('the exit codes of the server', () => {
  let storageDir: string;

  beforeEach(() => {
    storageDir = mkdtempSync(join(tmpdir(), 'bridle-exit-'));
  });

  afterEach(() => {
    rmSync(storageDir, { recursive: true, force: true });
  });

  it('is 69 for a second process on one SQLite file, and the first is not harmed', async () => {
    const first = await startServer({ storageDir });
    const second = await runServerToEnd([], { storageDir });
    const health = await fetch(`${first.http}/health`);
    await first.dispose();

    expect(second).toEqual({ code: 69, output: expect.stringContaining(`in use by process ${first.pid}`) });
    expect(health.status).toBe(200);
  });

  it('is 0 for a file whose last process was killed', async () => {
    const first = await startServer({ storageDir });
    await first.kill9();
    await first.restart();
    expect(await first.stop()).toBe(0);
  });

  it.each([
    ['a variable that no key has', { BRIDLE_RUNS_LEASE: '5000' }, 'BRIDLE_RUNS_LEASE_MS'],
    ['a value that is not accepted', { BRIDLE_SERVER_ROLE: 'boss' }, 'worker'],
    ['two names that disagree', { BRIDLE_SERVER_HTTP_PORT: undefined, PORT: '1', SERVER_PORT: '2' }, 'SERVER_PORT'],
  ])('is 78 for %s, and one sentence says so', async (_what, env, hint) => {
    const { code, output } = await runServerToEnd([], { storageDir, env });
    expect({ code, lines: output.trim().split('\n').length }).toEqual({ code: 78, lines: 1 });
    expect(output).toContain(hint);
  });

  it('is 78 with one sentence and nothing of the inside, when the wiring finds the fault', async () => {
    const env = { BRIDLE_RUNS_DEFAULT_AGENT: 'nobody' };
    const { code, output } = await runServerToEnd([], { storageDir, env });
    const lines = output.split('\n').filter((line) => line !== '' && !/^[✓!]/.test(line));
    expect({ code, lines }).toEqual({ code: 78, lines: [expect.stringContaining('runs.defaultAgent is nobody')] });
  });

  it('is 69 for a database that does not answer', async () => {
    const env = { BRIDLE_DATABASE_URL: 'mysql://nobody:nothing@127.0.0.1:9/bridle' };
    const { code, output } = await runServerToEnd([], { storageDir, env });
    expect(code).toBe(69);
    expect(output).toContain('the database cannot be opened: connect ECONNREFUSED');
  });

  it('is 69 for a database that stops answering while it is checked', async () => {
    const place = await mysqlUnderTest().create();
    const url = new URL(place.url);
    const proxy = await startTcpProxy(Number(url.port));
    proxy.loseAt('information_schema');
    url.port = String(proxy.port);
    const env = { BRIDLE_DATABASE_URL: url.href, BRIDLE_DATABASE_TIMEOUT_MS: '1000' };
    const { code, output } = await runServerToEnd([], { storageDir, env });
    await proxy.close();
    await place.drop();
    expect({ code, output }).toEqual({ code: 69, output: expect.stringContaining('does not answer') as unknown });
  });

  it('of the doctor is 1 when a check is red, which it shows among the green ones', async () => {
    const env = { BRIDLE_DATABASE_URL: 'mysql://nobody:nothing@127.0.0.1:9/bridle' };
    const { code, output } = await runServerToEnd(['doctor'], { storageDir, env });
    expect(code).toBe(1);
    expect(output).toMatch(/✓ node[^]*✗ database .*ECONNREFUSED/);
  });

  it('is 1 for a port that is taken, and no run is touched', async () => {
    const first = await startServer({ storageDir });
    const v1 = new V1Client(first);
    const run = await v1.send(await v1.session(), 'stream:2000:20');
    await v1.follow(run, {}, (frame) => frame.event === 'run.message_delta');
    await first.kill9();
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const second = await runServerToEnd([], { storageDir, env: { BRIDLE_SERVER_HTTP_PORT: String(port) } });
    taken.close();
    await first.restart();
    const state = await v1.page(run);
    await first.dispose();
    expect(second.code).toBe(1);
    expect(second.output).toContain('EADDRINUSE');
    expect(state.attempt).toBe(2);
  });
});

describe('what the server writes', () => {
  it('is for its owner alone, whatever the folder was', async () => {
    const storageDir = mkdtempSync(join(tmpdir(), 'bridle-modes-'));
    const server = await startServer({ storageDir });
    const v1 = new V1Client(server);
    await v1.ended(await v1.send(await v1.session(), 'tool:t:0'));
    const modes = readdirSync(storageDir).map((name) => [name, statSync(join(storageDir, name)).mode & 0o077]);
    await server.dispose();
    rmSync(storageDir, { recursive: true, force: true });
    expect(modes.length).toBeGreaterThanOrEqual(3);
    expect(modes.filter(([, others]) => others !== 0)).toEqual([]);
  });
});

describe('a worker', () => {
  it('has the health routes and no door', async () => {
    const server = await startServer({ env: { BRIDLE_SERVER_ROLE: 'worker' } });
    const statusOf = async (path: string): Promise<number> => (await fetch(`${server.http}${path}`)).status;
    const statuses = await Promise.all(['/health', '/livez', '/readyz', '/metrics', '/v1/sessions'].map(statusOf));
    await server.dispose();
    expect(statuses).toEqual([200, 200, 200, 200, 404]);
  });
});
