import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { run } from './child.mjs';
import { installPackage } from './debian.mjs';
import { endServer, freePort, pause, SERVER_ENVIRONMENT } from './local-server.mjs';

const START_MS = 60_000;
const HOW_TO =
  'install the package mariadb-server, or set BRIDLE_TEST_MYSQL_URL to a server whose user may create schemas';

/**
 * Starts a private MariaDB on a free port of the loopback, with its data in a temporary folder.
 * @param {{ flushAtCommit?: 0 | 1 | 2 }} options `innodb_flush_log_at_trx_commit`: 0 is the fastest and may lose
 *   commits when the server is killed, 2 keeps them then, 1 keeps them when the machine fails too
 * @returns {Promise<MariaDb>}
 * @throws Error whose message is one sentence that says what to install
 *
 * @typedef {object} MariaDb
 * @property {string} url ends without a schema
 * @property {() => Promise<void>} kill ends the server as a crash does; its data stays
 * @property {() => Promise<void>} restart starts it again on the same port and data, after `kill`
 * @property {() => void} pause holds it as it is: it keeps its connections and answers nothing
 * @property {() => void} resume lets it go on, after `pause`
 * @property {() => Promise<void>} stop ends it and removes its data
 */
export async function startMariaDb({ flushAtCommit = 0 } = {}) {
  if (!(await hasMariaDb())) await installPackage({ name: 'mariadb-server', program: 'MariaDB', howTo: HOW_TO });
  const folder = mkdtempSync(`${tmpdir()}/bridle-mariadb-`);
  try {
    await createData(folder);
    const port = await freePort();
    const start = () => launch(folder, port, flushAtCommit);
    let server = await start();
    return {
      url: `mysql://bridle:bridle@127.0.0.1:${port}/`,
      kill: () => endServer(server, 'SIGKILL'),
      restart: async () => {
        server = await start();
      },
      pause: () => void server.kill('SIGSTOP'),
      resume: () => void server.kill('SIGCONT'),
      stop: async () => {
        server.kill('SIGCONT');
        await endServer(server, 'SIGTERM');
        rmSync(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function hasMariaDb() {
  for (const command of ['mariadbd', 'mariadb-install-db', 'mariadb-admin']) {
    if ((await run(command, ['--version'], { env: SERVER_ENVIRONMENT })).code === 127) return false;
  }
  return true;
}

async function createData(folder) {
  mkdirSync(`${folder}/data`);
  mkdirSync(`${folder}/tmp`);
  writeFileSync(
    `${folder}/init.sql`,
    "CREATE USER IF NOT EXISTS 'bridle'@'127.0.0.1' IDENTIFIED BY 'bridle';\nGRANT ALL ON *.* TO 'bridle'@'127.0.0.1';\n",
  );
  const { code, output } = await run(
    'mariadb-install-db',
    [
      '--no-defaults',
      `--datadir=${folder}/data`,
      `--tmpdir=${folder}/tmp`,
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
      `--user=${userInfo().username}`,
    ],
    { env: SERVER_ENVIRONMENT, timeoutMs: START_MS },
  );
  if (code !== 0) throw new Error(`mariadb-install-db failed: ${output.trim().split('\n').at(-1)}`);
}

async function launch(folder, port, flushAtCommit) {
  const server = spawn(
    'mariadbd',
    [
      '--no-defaults',
      `--user=${userInfo().username}`,
      `--datadir=${folder}/data`,
      // a server that starts removes the temporary tables of every other one that shares the folder
      `--tmpdir=${folder}/tmp`,
      `--socket=${folder}/socket`,
      `--pid-file=${folder}/pid`,
      `--init-file=${folder}/init.sql`,
      `--log-error=${folder}/log`,
      '--bind-address=127.0.0.1',
      `--port=${port}`,
      '--skip-name-resolve',
      '--skip-log-bin',
      `--innodb-flush-log-at-trx-commit=${flushAtCommit}`,
      '--innodb-buffer-pool-size=64M',
      '--character-set-server=utf8mb4',
      '--collation-server=utf8mb4_bin',
      '--default-time-zone=+00:00',
    ],
    { env: SERVER_ENVIRONMENT, stdio: 'ignore', detached: true },
  );
  const deadlineMs = Date.now() + START_MS;
  for (;;) {
    const ping = ['--no-defaults', '-S', `${folder}/socket`, 'ping'];
    const { code } = await run('mariadb-admin', ping, { env: SERVER_ENVIRONMENT, timeoutMs: 5000 });
    if (code === 0) return server;
    if (server.exitCode !== null || Date.now() > deadlineMs) {
      server.kill('SIGKILL');
      const log = existsSync(`${folder}/log`) ? readFileSync(`${folder}/log`, 'utf8') : '';
      throw new Error(`MariaDB did not start within ${START_MS / 1000} s:\n${log.slice(-2000)}`);
    }
    await pause(100);
  }
}
