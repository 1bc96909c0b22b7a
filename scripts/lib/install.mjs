import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { run } from './child.mjs';
import { ROOT } from './paths.mjs';
import { phase, say } from './terminal.mjs';

const LOCK_FILE = `${ROOT}/package-lock.json`;
/** Written after an installation: the digest of the lock file that it followed. */
const STAMP = `${ROOT}/node_modules/.installed`;

/**
 * Installs what `package-lock.json` names when `node_modules` does not hold exactly that.
 * @throws Error with npm's own words when the installation fails
 */
export async function installIfNeeded() {
  if (isInstalled()) return;
  const count = Object.keys(packagesOf(LOCK_FILE)).length;
  say('The first start takes a few minutes: packages are installed, and the SQLite driver may have to be compiled.');
  const { output, ok } = await phase(`installing ${count} packages`, async () => {
    // NODE_ENV=production would leave out the compiler that the build needs.
    const args = ['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'];
    const result = await run('npm', args);
    return { ...result, ok: result.code === 0 };
  });
  if (!ok) throw new Error(`npm ci failed:\n${output}`);
  writeFileSync(STAMP, digestOfLock());
}

/** True when every package of the lock file is there in its version; optional ones may be missing. */
export function isInstalled() {
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === digestOfLock()) return true;
  // Installed by hand, or the lock file has changed: look at every package.
  const installed = packagesOf(`${ROOT}/node_modules/.package-lock.json`);
  const wanted = packagesOf(LOCK_FILE);
  return Object.entries(wanted).every(([path, { version, optional, devOptional }]) => {
    const found = installed[path];
    return found ? found.version === version : (optional ?? devOptional ?? false);
  });
}

function digestOfLock() {
  return createHash('sha256').update(readFileSync(LOCK_FILE)).digest('hex');
}

function packagesOf(lockFile) {
  // npm writes the hidden lock file last, so an interrupted installation has none.
  if (!existsSync(lockFile)) return {};
  const { '': _self, ...packages } = JSON.parse(readFileSync(lockFile, 'utf8')).packages;
  return packages;
}
