import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { serverEnvironment } from '../support/server.js';

/** `npm start` and its relatives, as npm runs them. */
class Command {
  output = '';
  private readonly child: ChildProcess;

  constructor(args: readonly string[], env: Readonly<Record<string, string>>) {
    this.child = spawn(process.execPath, ['scripts/start.mjs', ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    }
  }

  async ready(): Promise<string> {
    for (;;) {
      const line = /^ready .*http=(\S+)/m.exec(this.output);
      if (line?.[1] !== undefined) return line[1];
      if (this.child.exitCode !== null) throw new Error(`ended before it was ready:\n${this.output}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async end(): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'close');
    return this.child.exitCode;
  }
}

/** Asks until the connection is refused. */
async function refusal(url: string): Promise<unknown> {
  for (;;) {
    const error: unknown = await fetch(url).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error !== undefined) return error;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

// Each test boots the server, on a machine that may be busy.
jest.setTimeout(120_000);

describe('npm start', () => {
  let storageDir: string;
  let command: Command | undefined;

  beforeEach(() => {
    storageDir = mkdtempSync(join(tmpdir(), 'bridle-commands-'));
  });

  afterEach(async () => {
    command?.kill('SIGTERM');
    await command?.end();
    command = undefined;
    rmSync(storageDir, { recursive: true, force: true });
  });

  const start = (args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Command =>
    (command = new Command(args, { ...serverEnvironment(storageDir), ...env }));

  it('serves, passes SIGTERM on and ends with the code of the server', async () => {
    const server = start();
    const http = await server.ready();
    expect(await (await fetch(`${http}/health`)).json()).toEqual({ status: 'ok' });
    server.kill('SIGTERM');
    expect(await server.end()).toBe(0);
    await expect(fetch(`${http}/health`)).rejects.toThrow();
  });

  it('takes the two SIGINTs that a terminal and npm deliver for one Ctrl-C as one', async () => {
    const server = start();
    await server.ready();
    server.kill('SIGINT');
    server.kill('SIGINT');
    expect(await server.end()).toBe(0);
  });

  it('leaves no server behind when it is killed hard', async () => {
    const server = start();
    const http = await server.ready();
    server.kill('SIGKILL');
    await server.end();
    expect(String(await refusal(`${http}/health`))).toBe('TypeError: fetch failed');
  });

  it('ends with 78 and one sentence for a value that is not accepted', async () => {
    const server = start([], { BRIDLE_RUNS_LEASE_MS: 'soon' });
    expect(await server.end()).toBe(78);
    expect(server.output).toContain('runs.leaseMs');
    expect(server.output).toContain('soon');
  });

  it('migrate makes the database and ends', async () => {
    expect(await start(['migrate']).end()).toBe(0);
    expect(readdirSync(storageDir)).toContain('bridle.sqlite');
  });

  it('doctor ends with 0 when every check is green', async () => {
    expect(await start(['doctor']).end()).toBe(0);
  });
});
