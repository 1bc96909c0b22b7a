import { existsSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { runNode } from './child.mjs';
import { ROOT } from './paths.mjs';
import { phase } from './terminal.mjs';

/** Written after a build; a build that was interrupted leaves none. */
const STAMP = `${ROOT}/dist/.built`;
const SOURCES = ['src', 'proto', 'tsconfig.json', 'tsconfig.build.json', 'nest-cli.json', '.swcrc', 'package.json'];

/**
 * Compiles `src` to `dist` when `dist` is missing or older than its sources.
 * @throws Error with the compiler's words
 */
export async function buildIfNeeded() {
  if (isBuilt()) return;
  await build();
}

/** Compiles `src` to `dist`. */
export async function build() {
  const startedMs = Date.now();
  const { output, ok } = await phase('building', async () => {
    const result = await runNode(`${ROOT}/node_modules/@nestjs/cli/bin/nest.js`, ['build']);
    return { ...result, ok: result.code === 0 && existsSync(`${ROOT}/dist/main.js`) };
  });
  if (!ok) throw new Error(`the build failed:\n${output}`);
  // What was edited while the compiler ran is newer than the stamp.
  writeFileSync(STAMP, '');
  utimesSync(STAMP, startedMs / 1000, startedMs / 1000);
}

function isBuilt() {
  if (!existsSync(STAMP) || !existsSync(`${ROOT}/dist/main.js`)) return false;
  const builtMs = statSync(STAMP).mtimeMs;
  return SOURCES.every((source) => newestMs(`${ROOT}/${source}`) <= builtMs);
}

/** The time of the newest change below a path; a folder's own time tells of deleted files. */
function newestMs(path) {
  if (!existsSync(path)) return 0;
  const facts = statSync(path);
  if (!facts.isDirectory()) return facts.mtimeMs;
  return Math.max(facts.mtimeMs, ...readdirSync(path).map((name) => newestMs(`${path}/${name}`)));
}
