import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = process.cwd();
/** Long: several servers may start at once on a machine that has other work. */
const READY_MS = 60_000;
const STOP_MS = 30_000;

export interface ServerOptions {
  /** Laid over the defaults of {@link startServer}; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where data lies; a new temporary folder, removed by `dispose`, when absent. */
  readonly storageDir?: string;
}

/** The built server as a child process of the test. */
export interface TestServer {
  /** Base URL, without a trailing slash; another one after `restart`. */
  readonly http: string;
  /** `host:port`. */
  readonly grpc: string;
  readonly pid: number;
  /** False once the process has ended, however it did. */
  readonly isRunning: boolean;
  readonly storageDir: string;
  /** The pairs of the `ready` line. */
  readonly ready: Readonly<Record<string, string>>;
  /** All that the server wrote so far, over restarts. */
  logs(): string;
  /** Sends a signal (default SIGTERM) and waits for the end; the exit code, or null after a deadly signal. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** The crash that nothing can catch. */
  kill9(): Promise<void>;
  /** Starts again on the same data, after `stop`, `kill9` or a crash; waits for an end that is under way. */
  restart(env?: ServerOptions['env']): Promise<void>;
  /** Ends the process if it still runs and removes the data. Call it in `afterEach`. */
  dispose(): Promise<void>;
}

/**
 * Starts `node dist/main.js` on free ports of the loopback with its own data, the script model's test tools enabled
 * and no provider key, and waits until it is ready.
 * @throws Error with the server's output when it ends or is not ready within 60 s
 */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const ownsData = options.storageDir === undefined;
  const storageDir = options.storageDir ?? mkdtempSync(join(tmpdir(), 'bridle-test-'));
  const server = new ChildServer(storageDir, ownsData, options.env ?? {});
  try {
    await server.start();
  } catch (error) {
    await server.dispose();
    throw error;
  }
  return server;
}

/** Runs `node dist/main.js` to its end, for starts that must fail and for commands like `doctor`. */
export async function runServerToEnd(
  args: readonly string[],
  options: ServerOptions & { readonly storageDir: string },
): Promise<{ code: number | null; output: string }> {
  const child = launch(args, { ...serverEnvironment(options.storageDir), ...options.env });
  const timer = setTimeout(() => child.kill('SIGKILL'), READY_MS);
  let output = '';
  child.stdout?.on('data', (text: string) => (output += text));
  child.stderr?.on('data', (text: string) => (output += text));
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  return { code, output };
}

class ChildServer implements TestServer {
  ready: Readonly<Record<string, string>> = {};
  private child: ChildProcess | undefined;
  private written = '';

  constructor(
    readonly storageDir: string,
    private readonly ownsData: boolean,
    private env: NonNullable<ServerOptions['env']>,
  ) {}

  get http(): string {
    return this.ready['http'] ?? '';
  }

  get grpc(): string {
    return this.ready['grpc'] ?? '';
  }

  get pid(): number {
    return this.child?.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  logs(): string {
    return this.written;
  }

  async start(): Promise<void> {
    const child = launch([], { ...serverEnvironment(this.storageDir), ...this.env });
    this.child = child;
    const from = this.written.length;
    this.ready = await new Promise((resolve, reject) => {
      const fail = (why: string): void => {
        clearTimeout(timer);
        reject(new Error(`the server ${why}:\n${this.written.slice(from)}`));
      };
      const timer = setTimeout(() => fail(`was not ready within ${READY_MS} ms`), READY_MS);
      const read = (text: string): void => {
        this.written += text;
        const line = /^ready (.*)$/m.exec(this.written.slice(from));
        // The line counts once it is whole: its end may come in the next chunk.
        if (line?.[1] === undefined || !this.written.slice(from + line.index).includes('\n')) return;
        clearTimeout(timer);
        resolve(pairsOf(line[1]));
      };
      child.stdout?.on('data', read);
      child.stderr?.on('data', read);
      child.once('close', (code, signal) => fail(`ended with ${code ?? signal ?? 'nothing'} before it was ready`));
    });
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.child?.kill(signal);
    return this.ended();
  }

  async kill9(): Promise<void> {
    await this.stop('SIGKILL');
  }

  async restart(env: ServerOptions['env'] = {}): Promise<void> {
    await this.ended();
    this.env = { ...this.env, ...env };
    await this.start();
  }

  async dispose(): Promise<void> {
    // A test may have stopped the process with SIGSTOP, which only SIGKILL ends.
    await this.kill9();
    if (this.ownsData) rmSync(this.storageDir, { recursive: true, force: true });
  }

  private async ended(): Promise<number | null> {
    const child = this.child;
    if (!child) return null;
    if (this.isRunning) {
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await once(child, 'exit');
      clearTimeout(timer);
    }
    return child.exitCode;
  }
}

function launch(args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(process.execPath, [join(ROOT, 'dist/main.js'), ...args], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.setEncoding('utf8');
  child.stderr.setEncoding('utf8');
  return child;
}

/** Only what the server needs: a key in the developer's environment must not reach a test. */
export function serverEnvironment(storageDir: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '',
    BRIDLE_SERVER_HTTP_PORT: '0',
    BRIDLE_SERVER_GRPC_PORT: '0',
    BRIDLE_STORAGE_DIR: storageDir,
    BRIDLE_DATABASE_URL: `sqlite:${join(storageDir, 'bridle.sqlite')}`,
    BRIDLE_MODEL_PROVIDER: 'script',
    BRIDLE_HARNESS_SCRIPT_MODEL_ENABLED: 'true',
  };
}

/** `http=… grpc=…` as an object. */
function pairsOf(line: string): Record<string, string> {
  return Object.fromEntries(
    line
      .trim()
      .split(/\s+/)
      .map((pair) => {
        const at = pair.indexOf('=');
        return [pair.slice(0, at), pair.slice(at + 1)];
      }),
  );
}
