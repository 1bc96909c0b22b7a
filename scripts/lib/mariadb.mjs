import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { run } from './child.mjs';
import { phase } from './terminal.mjs';

const START_MS = 60_000;
const STOP_MS = 15_000;
const PATHS = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin', '/usr/local/bin', '/usr/bin'];
const ENVIRONMENT = { ...process.env, PATH: [process.env.PATH, ...PATHS].join(':') };
const HOW_TO =
  'install the package mariadb-server, or set BRIDLE_TEST_MYSQL_URL to a server whose user may create schemas';

/**
 * Starts a private MariaDB on a free port of the loopback, with its data in a temporary folder.
 * @returns {Promise<{ url: string, stop(): Promise<void> }>} `url` ends without a schema
 * @throws Error whose message is one sentence that says what to install
 */
export async function startMariaDb() {
  if (!(await hasMariaDb())) await installMariaDb();
  const folder = mkdtempSync(`${tmpdir()}/bridle-mariadb-`);
  try {
    await createData(folder);
    const { port, server } = await launch(folder);
    return { url: `mysql://bridle:bridle@127.0.0.1:${port}/`, stop: () => stop(folder, server) };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function hasMariaDb() {
  for (const command of ['mariadbd', 'mariadb-install-db', 'mariadb-admin']) {
    if ((await run(command, ['--version'], { env: ENVIRONMENT })).code === 127) return false;
  }
  return true;
}

async function installMariaDb() {
  const isRoot = process.getuid?.() === 0;
  if (!isRoot || !existsSync('/usr/bin/apt-get')) throw new Error(`MariaDB was not found: ${HOW_TO}`);
  forbidDaemons();
  const { ok } = await phase('installing mariadb-server', async () => {
    const env = { DEBIAN_FRONTEND: 'noninteractive' };
    const install = () => run('apt-get', ['install', '-y', '--no-install-recommends', 'mariadb-server'], { env });
    let result = await install();
    if (result.code !== 0) {
      await run('apt-get', ['update'], { env });
      result = await install();
    }
    return { ok: result.code === 0 };
  });
  if (!ok) throw new Error(`apt-get could not install MariaDB: ${HOW_TO}`);
}

/** Debian starts a fresh daemon by itself unless this file says no. */
function forbidDaemons() {
  const policy = '/usr/sbin/policy-rc.d';
  if (!existsSync(policy)) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
}

async function createData(folder) {
  mkdirSync(`${folder}/data`);
  writeFileSync(
    `${folder}/init.sql`,
    "CREATE USER IF NOT EXISTS 'bridle'@'127.0.0.1' IDENTIFIED BY 'bridle';\nGRANT ALL ON *.* TO 'bridle'@'127.0.0.1';\n",
  );
  const { code, output } = await run(
    'mariadb-install-db',
    [
      '--no-defaults',
      `--datadir=${folder}/data`,
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
      `--user=${userInfo().username}`,
    ],
    { env: ENVIRONMENT, timeoutMs: START_MS },
  );
  if (code !== 0) throw new Error(`mariadb-install-db failed: ${output.trim().split('\n').at(-1)}`);
}

async function launch(folder) {
  const port = await freePort();
  const server = spawn(
    'mariadbd',
    [
      '--no-defaults',
      `--user=${userInfo().username}`,
      `--datadir=${folder}/data`,
      `--socket=${folder}/socket`,
      `--pid-file=${folder}/pid`,
      `--init-file=${folder}/init.sql`,
      `--log-error=${folder}/log`,
      '--bind-address=127.0.0.1',
      `--port=${port}`,
      '--skip-name-resolve',
      '--skip-log-bin',
      '--innodb-flush-log-at-trx-commit=0',
      '--innodb-buffer-pool-size=64M',
      '--character-set-server=utf8mb4',
      '--collation-server=utf8mb4_bin',
      '--default-time-zone=+00:00',
    ],
    { env: ENVIRONMENT, stdio: 'ignore', detached: true },
  );
  const deadlineMs = Date.now() + START_MS;
  for (;;) {
    const ping = ['--no-defaults', '-S', `${folder}/socket`, 'ping'];
    const { code } = await run('mariadb-admin', ping, { env: ENVIRONMENT, timeoutMs: 5000 });
    if (code === 0) return { port, server };
    if (server.exitCode !== null || Date.now() > deadlineMs) {
      server.kill('SIGKILL');
      const log = existsSync(`${folder}/log`) ? readFileSync(`${folder}/log`, 'utf8') : '';
      throw new Error(`MariaDB did not start within ${START_MS / 1000} s:\n${log.slice(-2000)}`);
    }
    await pause(100);
  }
}

async function stop(folder, server) {
  const pidFile = `${folder}/pid`;
  const pid = existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : server.pid;
  const isOver = () => server.exitCode !== null || server.signalCode !== null;
  if (!isOver()) process.kill(pid, 'SIGTERM');
  const deadlineMs = Date.now() + STOP_MS;
  while (!isOver() && Date.now() < deadlineMs) await pause(50);
  if (!isOver()) process.kill(pid, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
