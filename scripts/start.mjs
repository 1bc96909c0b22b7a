/**
 * `npm start`: installs what is missing, builds what is old, then runs the server and ends with its exit code.
 * `npm run migrate` and `npm run doctor` are the same with an argument for the server.
 */
import './lib/require-node.mjs';
import { spawn } from 'node:child_process';
import { buildIfNeeded } from './lib/build.mjs';
import { exitCodeOf, stopChildren } from './lib/child.mjs';
import { installIfNeeded } from './lib/install.mjs';
import { ROOT } from './lib/paths.mjs';
import { say } from './lib/terminal.mjs';

/** A terminal and npm both deliver one Ctrl-C; only a signal after this time is a second one. */
const ONE_SIGNAL_MS = 500;

let server;
const lastMs = {};

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    const nowMs = Date.now();
    if (nowMs - (lastMs[signal] ?? 0) < ONE_SIGNAL_MS) return;
    lastMs[signal] = nowMs;
    if (server) {
      server.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal);
    } else {
      stopChildren(signal);
      process.exit(exitCodeOf(signal));
    }
  });
}

try {
  await installIfNeeded();
  await buildIfNeeded();
} catch (error) {
  say(error.message);
  process.exit(1);
}

// A process group of its own: the terminal's Ctrl-C reaches the server once, through the handler above.
const endWithLauncher = new URL('./lib/end-with-launcher.mjs', import.meta.url).href;
server = spawn(process.execPath, ['--import', endWithLauncher, `${ROOT}/dist/main.js`, ...process.argv.slice(2)], {
  cwd: ROOT,
  stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  detached: true,
});
server.on('error', (error) => {
  say(`the server could not be started: ${error.message}`);
  process.exit(1);
});
server.on('exit', (code, signal) => process.exit(code ?? exitCodeOf(signal)));
