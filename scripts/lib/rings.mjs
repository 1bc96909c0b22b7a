import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { runNode } from './child.mjs';
import { ROOT } from './paths.mjs';

/** The rings of tests, from the fastest to the slowest; each is a project of `jest.config.mjs`. */
export const RINGS = ['unit', 'contract', 'wire', 'e2e'];

/** A ring that hangs is ended: an hour, three with the full counts. */
const LIMIT_MS = (process.env.BRIDLE_TEST_FULL ? 180 : 60) * 60_000;

/**
 * Reads `--only unit,wire` and `--without e2e`.
 * @returns {{ chosen: readonly string[], leftOut: readonly string[] }}
 * @throws Error for an unknown ring or option
 */
export function chooseRings(args) {
  let chosen = RINGS;
  for (let index = 0; index < args.length; index += 2) {
    const [option, value = ''] = args.slice(index, index + 2);
    const names = value.split(',').filter(Boolean);
    const unknown = names.find((name) => !RINGS.includes(name));
    if (names.length === 0 || unknown !== undefined || !['--only', '--without'].includes(option)) {
      throw new Error(
        `npm test understands --only and --without with names of ${RINGS.join(', ')}, not "${args.join(' ')}"`,
      );
    }
    chosen = chosen.filter((ring) => names.includes(ring) === (option === '--only'));
  }
  return { chosen, leftOut: RINGS.filter((ring) => !chosen.includes(ring)) };
}

/**
 * Runs one ring.
 * @returns {Promise<{ passed: number, failed: number, faults: string[] }>} `faults` are sentences about failures that
 *   are no failed assertion; each counts as one failure in `failed`
 */
export async function runRing(ring, env) {
  const folder = mkdtempSync(`${tmpdir()}/bridle-jest-`);
  const resultFile = `${folder}/result.json`;
  try {
    const { code, timedOut } = await runNode(`${ROOT}/node_modules/jest/bin/jest.js`, jestArguments(ring, resultFile), {
      env: { ...env, NODE_OPTIONS: jestNodeOptions() },
      show: true,
      timeoutMs: LIMIT_MS,
    });
    if (timedOut) return fault(`the ring ${ring} was ended after ${LIMIT_MS / 60_000} minutes`);
    return toOutcome(ring, code, readResult(resultFile));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** How many tests a ring has that is left out by name. */
export async function countTests(ring) {
  const folder = mkdtempSync(`${tmpdir()}/bridle-jest-`);
  const resultFile = `${folder}/result.json`;
  try {
    // A name that no test has: jest reads every file and runs none.
    const args = [...jestArguments(ring, resultFile), '--testNamePattern', '\\u0000'];
    await runNode(`${ROOT}/node_modules/jest/bin/jest.js`, args, { env: { NODE_OPTIONS: jestNodeOptions() } });
    return readResult(resultFile)?.numPendingTests ?? 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function jestArguments(ring, resultFile) {
  const workers = Math.min(4, availableParallelism());
  // Servers as child processes: side by side they measure little but their crowding, and each has to boot.
  const pace =
    ring === 'e2e' || ring === 'chaos' ? ['--runInBand', '--testTimeout', '120000'] : ['--maxWorkers', String(workers)];
  return ['--ci', '--selectProjects', ring, '--json', '--outputFile', resultFile, ...pace];
}

function jestNodeOptions() {
  return `${process.env.NODE_OPTIONS ?? ''} --experimental-vm-modules --disable-warning=ExperimentalWarning`.trim();
}

function readResult(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined; // jest wrote nothing: it died, and its exit code says so
  }
}

function toOutcome(ring, code, result) {
  if (!result) return fault(`the ring ${ring} ended with code ${code} and without a result`);
  const { numPassedTests: passed, numFailedTests, numPendingTests, numTodoTests, numRuntimeErrorTestSuites } = result;
  const faults = [];
  if (passed + numFailedTests === 0) faults.push(`the ring ${ring} ran no test`);
  if (numRuntimeErrorTestSuites > 0)
    faults.push(`${numRuntimeErrorTestSuites} files of the ring ${ring} could not be run`);
  const silent = numPendingTests + numTodoTests;
  if (silent > 0) faults.push(`${silent} tests of the ring ${ring} are skipped or todo, which counts as failure`);
  const failed = numFailedTests + numRuntimeErrorTestSuites + silent + (passed + numFailedTests === 0 ? 1 : 0);
  if (failed === 0 && code !== 0)
    return { passed, failed: 1, faults: [`jest ended the ring ${ring} with code ${code}`] };
  return { passed, failed, faults };
}

function fault(sentence) {
  return { passed: 0, failed: 1, faults: [sentence] };
}
