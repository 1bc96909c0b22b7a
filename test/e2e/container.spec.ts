import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildImage, type Image, type ImageOptions } from '../support/image.js';
import { isFullRun } from '../support/property-runs.js';

const BUILD_MS = 20 * 60_000;
const READY_MS = 60_000;
/** Without rights, where the tests may choose who they are: the user `nobody`. */
const NOBODY = isFullRun() && process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

/** No engine is needed: the steps of the Dockerfile are executed in a folder, and what they make is started. */
describe('the image', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bridle-image-'));
  let image: Image;
  let server: ChildProcess | undefined;

  beforeAll(async () => {
    const home = join(folder, 'home');
    mkdirSync(home);
    if (NOBODY.uid !== undefined) {
      chownSync(folder, NOBODY.uid, NOBODY.gid);
      chownSync(home, NOBODY.uid, NOBODY.gid);
    }
    image = await buildImage({ folder, env: environment(home), ...NOBODY, ...(isFullRun() ? WHOLE : QUICK) });
  }, BUILD_MS);

  afterAll(() => {
    server?.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  it('is the product and nothing around it', () => {
    expect(readdirSync(image.workdir).sort()).toEqual(
      ['LICENSE', 'config', 'dist', 'node_modules', 'package.json', 'proto'].sort(),
    );
    if (isFullRun()) {
      const packages = ['@swc/core', 'jest', '@nestjs/cli', 'eslint'];
      expect(packages.filter((name) => existsSync(join(image.workdir, 'node_modules', name)))).toEqual([]);
    }
  });

  it('starts without rights, answers /health, passes its own health check and ends at SIGTERM', async () => {
    const env = {
      PATH: process.env['PATH'] ?? '',
      ...Object.fromEntries(image.variables),
      BRIDLE_SERVER_HTTP_PORT: '0',
      BRIDLE_SERVER_GRPC_PORT: '0',
      BRIDLE_AUTH_ALLOW_OPEN: 'true',
    };
    const as = { cwd: image.workdir, env, ...NOBODY };
    const [program = '', ...words] = image.command;
    server = spawn(program, words, { ...as, stdio: ['ignore', 'pipe', 'inherit'] });
    const port = await portOf(server);
    const answer = await fetch(`http://127.0.0.1:${port}/health`);
    expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok' }]);
    expect(existsSync(join(image.root, 'data/bridle.sqlite'))).toBe(true);

    const [check = '', ...rest] = image.healthCheck;
    const healthCheck = (at: string): ChildProcess =>
      spawn(check, rest, { ...as, env: { ...env, BRIDLE_SERVER_HTTP_PORT: at } });
    expect((await once(healthCheck(port), 'exit'))[0]).toBe(0);
    expect((await once(healthCheck('1'), 'exit'))[0]).toBe(1);

    server.kill('SIGTERM');
    expect((await once(server, 'exit'))[0]).toBe(0);
  }, 120_000);
});

/** Every step but the one that needs Debian as root: what it installs must be there. */
const WHOLE: Pick<ImageOptions, 'commandOf'> = {
  commandOf: (command) => {
    const [, packages] = /apt-get install -y --no-install-recommends ([^&]+)/.exec(command) ?? [];
    if (packages !== undefined)
      return packages
        .trim()
        .split(/\s+/)
        .map((name) => `command -v ${name}`)
        .join(' && ');
    return command.replace('-o node -g node ', '');
  },
};

/** The packages of this working copy in place of an installation. */
const QUICK: Pick<ImageOptions, 'commandOf'> = {
  commandOf: (command) => {
    if (/^npm ci\b/.test(command)) return `ln -s ${join(process.cwd(), 'node_modules')} node_modules`;
    return WHOLE.commandOf(command)?.replace(/ && npm prune\b.*$/, '');
  },
};

/** What npm needs to know here: where packages and Node's headers come from. */
function environment(home: string): Record<string, string> {
  const setting = (name: string): string => execFileSync('npm', ['config', 'get', name], { encoding: 'utf8' }).trim();
  const settings = ['registry', 'nodedir', 'cafile'].map((name) => [`npm_config_${name}`, setting(name)] as const);
  const network = ['PATH', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'https_proxy', 'no_proxy', 'NODE_EXTRA_CA_CERTS'];
  return Object.fromEntries([
    ['HOME', home],
    ...network.map((name) => [name, process.env[name] ?? ''] as const).filter(([, value]) => value !== ''),
    ...settings.filter(([, value]) => !['', 'null', 'undefined'].includes(value)),
  ]);
}

/** The port of the ready line. */
async function portOf(child: ChildProcess): Promise<string> {
  let output = '';
  child.stdout?.setEncoding('utf8');
  return new Promise((resolve, reject) => {
    const fail = (): void => reject(new Error(`the server was not ready:\n${output}`));
    setTimeout(fail, READY_MS).unref();
    child.once('exit', fail);
    child.stdout?.on('data', (text: string) => {
      output += text;
      const port = /^ready http=http:\/\/\S+:(\d+) .*\n/m.exec(output)?.[1];
      if (port !== undefined) resolve(port);
    });
  });
}
