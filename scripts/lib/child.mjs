import { spawn } from 'node:child_process';
import { ROOT } from './paths.mjs';

/** What still runs: ended when this script is told to stop. */
const running = new Set();

/**
 * Runs a command to its end.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, cwd?: string, show?: boolean, timeoutMs?: number }} [options] `show` lets the
 *   command write to this terminal; otherwise its output is collected
 * @returns {Promise<{ code: number, output: string, timedOut: boolean }>} `code` is 128 + n after signal n, 127 when
 *   the command does not exist
 */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: options.cwd ?? ROOT,
      env: { ...process.env, ...options.env },
      stdio: options.show ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    let output = '';
    let timedOut = false;
    child.stdout?.setEncoding('utf8').on('data', (text) => (output += text));
    child.stderr?.setEncoding('utf8').on('data', (text) => (output += text));
    const timer =
      options.timeoutMs &&
      setTimeout(() => {
        timedOut = true;
        child.kill('SIGKILL');
      }, options.timeoutMs);
    child.on('error', (error) => {
      clearTimeout(timer);
      running.delete(child);
      resolve({ code: 127, output: `${command}: ${error.message}\n`, timedOut });
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      running.delete(child);
      resolve({ code: code ?? exitCodeOf(signal), output, timedOut });
    });
  });
}

/** Runs a JavaScript file of the project with this Node. */
export function runNode(file, args, options) {
  return run(process.execPath, [file, ...args], options);
}

/** Passes a signal on to everything that still runs. */
export function stopChildren(signal) {
  for (const child of running) child.kill(signal);
}

/** A shell's exit code for a process that a signal ended. */
export function exitCodeOf(signal) {
  const numbers = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGSEGV: 11, SIGABRT: 6, SIGTERM: 15 };
  return 128 + (numbers[signal] ?? 0);
}
