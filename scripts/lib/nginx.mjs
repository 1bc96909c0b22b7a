import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { run } from './child.mjs';
import { installPackage } from './debian.mjs';
import { endServer, freePort, pause, SERVER_ENVIRONMENT } from './local-server.mjs';

const START_MS = 20_000;
/** Somebody else may take a free port before nginx does. */
const ATTEMPTS = 3;
const HOW_TO = 'install the package nginx, or make the program nginx findable';

/**
 * Makes sure that the program nginx is there: an installed one, else Debian's package when this process may install it.
 * @throws Error whose message is one sentence that says what to install
 */
export async function provideNginx() {
  const { code } = await run('nginx', ['-v'], { env: SERVER_ENVIRONMENT });
  if (code === 127) await installPackage({ name: 'nginx', program: 'nginx', howTo: HOW_TO });
}

/**
 * Starts a private nginx on free ports of the loopback, with its files in a temporary folder, as the present user.
 * @param {number} portCount how many ports it shall listen on
 * @param {(ports: readonly number[]) => string} httpBlock what stands in `http { … }`, made for these ports
 * @returns {Promise<Nginx>}
 * @throws Error with nginx's own words when it refuses the configuration
 *
 * @typedef {object} Nginx
 * @property {readonly number[]} ports
 * @property {() => string} log its error log so far
 * @property {() => Promise<void>} stop ends it and removes its files
 */
export async function startNginx(portCount, httpBlock) {
  await provideNginx();
  for (let attempt = 1; ; attempt += 1) {
    const ports = await Promise.all(Array.from({ length: portCount }, freePort));
    try {
      return await launch(ports, httpBlock(ports));
    } catch (error) {
      if (attempt === ATTEMPTS || !/Address already in use/.test(error.message)) throw error;
    }
  }
}

async function launch(ports, httpBlock) {
  const folder = mkdtempSync(`${tmpdir()}/bridle-nginx-`);
  mkdirSync(`${folder}/temp`);
  writeFileSync(`${folder}/nginx.conf`, mainFile(folder, httpBlock));
  const log = () => (existsSync(`${folder}/error.log`) ? readFileSync(`${folder}/error.log`, 'utf8') : '');
  const args = ['-c', `${folder}/nginx.conf`, '-p', folder, '-e', `${folder}/error.log`];
  const server = spawn('nginx', args, { env: SERVER_ENVIRONMENT, stdio: 'ignore' });
  const stop = async () => {
    await endServer(server, 'SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  };
  const deadlineMs = Date.now() + START_MS;
  while (!(await isListening(ports))) {
    if (server.exitCode !== null || Date.now() > deadlineMs) {
      const words = log();
      await stop();
      throw new Error(`nginx did not start:\n${words}`);
    }
    await pause(50);
  }
  return { ports, log, stop };
}

function mainFile(folder, httpBlock) {
  return `${process.getuid?.() === 0 ? `user ${userInfo().username};` : ''}
daemon off;
worker_processes 1;
pid ${folder}/pid;
error_log ${folder}/error.log;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path ${folder}/temp/body;
  proxy_temp_path ${folder}/temp/proxy;
  fastcgi_temp_path ${folder}/temp/fastcgi;
  uwsgi_temp_path ${folder}/temp/uwsgi;
  scgi_temp_path ${folder}/temp/scgi;
${httpBlock}
}
`;
}

async function isListening(ports) {
  const answers = await Promise.all(ports.map(takesConnections));
  return answers.every(Boolean);
}

function takesConnections(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
