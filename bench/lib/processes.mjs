import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ROOT } from '../../scripts/lib/paths.mjs';

const READY_MS = 60_000;
const STOP_MS = 5_000;

/** What still runs: killed when the bench ends, however it ends. */
const running = new Set();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/**
 * Starts a file of the project with this Node and waits for its line `ready key=value …`.
 * @param {string} file relative to the root
 * @param {{ args?: readonly string[], env?: Record<string, string>, nodeArgs?: readonly string[] }} [options]
 *   `env` is all that the process gets beside `PATH` and `HOME`
 * @returns {Promise<Server>}
 * @throws Error with its output when it ends or is silent for a minute
 *
 * @typedef {object} Server
 * @property {number} pid
 * @property {Record<string, string>} ready the pairs of its line
 * @property {number} startMs from the start of the process to its line, in milliseconds
 * @property {import('node:child_process').ChildProcess} channel for messages
 * @property {() => Promise<void>} stop SIGTERM, and SIGKILL after 5 s
 */
export async function startProcess(file, { args = [], env = {}, nodeArgs = [] } = {}) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...nodeArgs, `${ROOT}/${file}`, ...args], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  const ready = await readyLineOf(child, file);
  return {
    pid: child.pid,
    ready,
    startMs: performance.now() - startedAt,
    channel: child,
    stop: () => stop(child),
  };
}

function readyLineOf(child, file) {
  return new Promise((resolve, reject) => {
    let output = '';
    const fail = (why) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(`${file} ${why}:\n${output.slice(-4000)}`));
    };
    const timer = setTimeout(() => fail('was not ready in time'), READY_MS);
    const onExit = (code, signal) => fail(`ended with ${code ?? signal} before it was ready`);
    const read = (text) => {
      output += text;
      const line = /^ready (.*)\n/m.exec(output);
      if (!line) return;
      clearTimeout(timer);
      child.off('exit', onExit);
      for (const stream of [child.stdout, child.stderr]) stream.off('data', read).resume();
      resolve(pairsOf(line[1]));
    };
    child.once('exit', onExit);
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', read);
  });
}

function pairsOf(line) {
  return Object.fromEntries(
    line.split(' ').map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
}

async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  child.kill('SIGTERM');
  await once(child, 'exit');
  clearTimeout(timer);
}
