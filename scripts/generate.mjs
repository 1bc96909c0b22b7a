/**
 * `npm run generate`: writes the TypeScript of `proto/` to `src/transport/grpc/generated`.
 * With `--check` it writes nothing and fails when what is there is not what the generator makes.
 */
import './lib/require-node.mjs';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './lib/child.mjs';
import { installIfNeeded } from './lib/install.mjs';
import { ROOT } from './lib/paths.mjs';
import { say } from './lib/terminal.mjs';

const TARGET = 'src/transport/grpc/generated';

/** Runs buf in a copy, so that a failure leaves nothing half written. */
async function generateInto(folder) {
  const bin = `${ROOT}/node_modules/.bin`;
  cpSync(`${ROOT}/proto`, `${folder}/proto`, { recursive: true });
  const { code, output } = await run(`${bin}/buf`, ['generate'], {
    cwd: `${folder}/proto`,
    env: { PATH: `${bin}:${process.env.PATH}` },
  });
  if (code !== 0) throw new Error(`buf generate failed:\n${output}`);
  return `${folder}/${TARGET}`;
}

/** Every file below a folder with its text. */
function filesOf(folder) {
  if (!existsSync(folder)) return new Map();
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    names.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path.slice(folder.length + 1), readFileSync(path, 'utf8')];
    }),
  );
}

function differences(made, present) {
  const names = new Set([...made.keys(), ...present.keys()]);
  return [...names].filter((name) => made.get(name) !== present.get(name)).sort();
}

const folder = mkdtempSync(`${tmpdir()}/bridle-generate-`);
try {
  await installIfNeeded();
  const made = await generateInto(folder);
  if (process.argv.includes('--check')) {
    const old = differences(filesOf(made), filesOf(`${ROOT}/${TARGET}`));
    for (const name of old) say(`${TARGET}/${name} is not what proto/ says; run npm run generate`);
    process.exitCode = old.length > 0 ? 1 : 0;
  } else {
    rmSync(`${ROOT}/${TARGET}`, { recursive: true, force: true });
    cpSync(made, `${ROOT}/${TARGET}`, { recursive: true });
  }
} catch (error) {
  say(error.message);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
