/**
 * `npm run check`: everything a change must pass, one line a step; the output of a failing step is shown.
 * `npm run check -- --no-tests` leaves out the tests.
 */
import './lib/require-node.mjs';
import { exitCodeOf, run, runNode, stopChildren } from './lib/child.mjs';
import { installIfNeeded } from './lib/install.mjs';
import { ROOT } from './lib/paths.mjs';
import { phase, say } from './lib/terminal.mjs';

const bin = (name) => `${ROOT}/node_modules/.bin/${name}`;

/** Label and command, from the quickest to the slowest. */
const STEPS = [
  ['format', () => run(bin('prettier'), ['--check', '.'])],
  ['import rules', () => run(bin('depcruise'), ['--config', '.dependency-cruiser.cjs', 'src'])],
  ['proto', () => run(bin('buf'), ['lint'], { cwd: `${ROOT}/proto` })],
  ['container', () => run(bin('dockerfile-utils'), ['lint', `${ROOT}/Dockerfile`])],
  ['generated code', () => runNode(`${ROOT}/scripts/generate.mjs`, ['--check'])],
  ['types', () => run(bin('tsc'), ['-p', 'tsconfig.json'])],
  ['unused code', () => run(bin('knip'), ['--no-progress'])],
  ['lint', () => run(bin('eslint'), ['--max-warnings', '0', '.'])],
];

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    stopChildren(signal);
    process.exit(exitCodeOf(signal));
  });
}

async function checkAll() {
  let failed = 0;
  for (const [label, step] of STEPS) {
    const { ok, output } = await phase(label, async () => {
      const result = await step();
      return { ...result, ok: result.code === 0 };
    });
    if (ok) continue;
    failed += 1;
    say(output.trimEnd());
  }
  return failed;
}

try {
  await installIfNeeded();
  const failed = await checkAll();
  if (failed > 0) say(`${failed} of ${STEPS.length} checks failed`);
  const tests = process.argv.includes('--no-tests')
    ? { code: 0 }
    : await run(process.execPath, [`${ROOT}/scripts/test.mjs`], { show: true });
  process.exitCode = failed > 0 || tests.code !== 0 ? 1 : 0;
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}
