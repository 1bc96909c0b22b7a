/**
 * `npm test`: installs what is missing, then runs every ring of tests. The last line is `N passed, N failed`.
 *
 *   npm test -- --only unit,wire     these rings alone
 *   npm test -- --without e2e        all but this one; its tests are counted as skipped
 *   BRIDLE_TEST_FULL=1 npm test      the full counts of every random loop
 *   BRIDLE_TEST_MYSQL_URL=mysql://…  this server in place of a private MariaDB
 */
import './lib/require-node.mjs';
import { buildIfNeeded } from './lib/build.mjs';
import { exitCodeOf, stopChildren } from './lib/child.mjs';
import { installIfNeeded } from './lib/install.mjs';
import { startMariaDb } from './lib/mariadb.mjs';
import { provideNginx } from './lib/nginx.mjs';
import { chooseRings, countTests, runRing } from './lib/rings.mjs';
import { phase, red, say } from './lib/terminal.mjs';

/** Rings that run against MariaDB beside SQLite. */
const NEEDS_MARIADB = ['contract', 'e2e'];
/** Rings that start the compiled server, or a thread of it. */
const NEEDS_BUILD = ['contract', 'e2e'];

let mariaDb;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, async () => {
    stopChildren(signal);
    await mariaDb?.stop();
    process.exit(exitCodeOf(signal));
  });
}

/** What a ring needs beside jest; its variables. */
async function prepare(ring) {
  if (NEEDS_BUILD.includes(ring)) await buildIfNeeded();
  if (ring === 'e2e') await provideNginx();
  if (!NEEDS_MARIADB.includes(ring) || process.env.BRIDLE_TEST_MYSQL_URL) return {};
  mariaDb ??= await phase('starting MariaDB', async () => ({ ...(await startMariaDb()), ok: true }));
  return { BRIDLE_TEST_MYSQL_URL: mariaDb.url };
}

async function runChosen(chosen) {
  const total = { passed: 0, failed: 0 };
  for (const ring of chosen) {
    say(`\n── ${ring} ──`);
    const { passed, failed, faults } = await prepare(ring).then(
      (env) => runRing(ring, env),
      (error) => ({ passed: 0, failed: 1, faults: [error.message] }),
    );
    for (const sentence of faults) say(red(sentence));
    total.passed += passed;
    total.failed += failed;
  }
  return total;
}

try {
  const { chosen, leftOut } = chooseRings(process.argv.slice(2));
  await installIfNeeded();
  const { passed, failed } = await runChosen(chosen);
  let skipped = 0;
  for (const ring of leftOut) skipped += await countTests(ring);
  await mariaDb?.stop();
  console.log(`${passed} passed, ${failed} failed${leftOut.length > 0 ? `, ${skipped} skipped` : ''}`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
} catch (error) {
  await mariaDb?.stop();
  say(red(error.message));
  console.log('0 passed, 1 failed');
  process.exitCode = 1;
}
