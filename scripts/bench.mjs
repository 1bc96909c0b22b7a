/**
 * `npm run bench`: measures the product against bare servers and prints a Markdown table (docs/performance.md).
 *
 *   npm run bench -- --only runs,grpc    these measures alone
 *   npm run bench -- --json FILE         the same as data
 *   npm run bench -- --profile DIR       the product writes processor profiles there; figures of such a run say little
 *
 * Exits with 0 when everything could be measured, whether or not the aims are met, and with 1 otherwise.
 */
import './lib/require-node.mjs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildIfNeeded } from './lib/build.mjs';
import { exitCodeOf, stopChildren } from './lib/child.mjs';
import { installIfNeeded } from './lib/install.mjs';
import { red, say } from './lib/terminal.mjs';

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => {
    stopChildren(signal);
    process.exit(exitCodeOf(signal));
  });
}

try {
  const { values } = parseArgs({
    options: { only: { type: 'string' }, json: { type: 'string' }, profile: { type: 'string' } },
  });
  await installIfNeeded();
  await buildIfNeeded();
  // The bench uses packages, which may just have been installed.
  const { bench } = await import('../bench/bench.mjs');
  const isMeasured = await bench({
    only: values.only?.split(','),
    jsonFile: values.json && resolve(values.json),
    profileDir: values.profile && resolve(values.profile),
  });
  process.exitCode = isMeasured ? 0 : 1;
} catch (error) {
  say(red(error.message));
  process.exitCode = 1;
}
