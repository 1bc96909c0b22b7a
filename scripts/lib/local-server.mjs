import { createServer } from 'node:net';

const PATHS = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin', '/usr/local/bin', '/usr/bin'];
const STOP_MS = 15_000;

/** The environment of a server program, which may lie where a user's PATH does not look. */
export const SERVER_ENVIRONMENT = { ...process.env, PATH: [process.env.PATH, ...PATHS].join(':') };

/** A port of the loopback that nobody holds at this moment. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/**
 * Ends a child process and waits until it is gone; one that hangs is killed after 15 s.
 * @param {import('node:child_process').ChildProcess} server
 * @param {NodeJS.Signals} signal
 */
export async function endServer(server, signal) {
  const isOver = () => server.exitCode !== null || server.signalCode !== null;
  if (!isOver()) server.kill(signal);
  const deadlineMs = Date.now() + STOP_MS;
  while (!isOver() && Date.now() < deadlineMs) await pause(20);
  if (!isOver()) server.kill('SIGKILL');
}

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
