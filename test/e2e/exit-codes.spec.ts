import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runServerToEnd, startServer } from '../support/server.js';

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

  it('is 69 for a database that does not answer', async () => {
    const env = { BRIDLE_DATABASE_URL: 'mysql://nobody:nothing@127.0.0.1:9/bridle' };
    expect((await runServerToEnd([], { storageDir, env })).code).toBe(69);
  });
});
