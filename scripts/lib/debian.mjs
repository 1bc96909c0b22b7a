import { existsSync, writeFileSync } from 'node:fs';
import { run } from './child.mjs';
import { phase } from './terminal.mjs';

/**
 * Installs a package of Debian or Ubuntu when this process may: as root, where apt-get is.
 * @param {{ name: string, program: string, howTo: string }} wanted `howTo` says what a person can do
 * @throws Error whose message is one sentence
 */
export async function installPackage({ name, program, howTo }) {
  const isRoot = process.getuid?.() === 0;
  if (!isRoot || !existsSync('/usr/bin/apt-get')) throw new Error(`${program} was not found: ${howTo}`);
  forbidDaemons();
  const { ok } = await phase(`installing ${name}`, async () => {
    const env = { DEBIAN_FRONTEND: 'noninteractive' };
    const install = () => run('apt-get', ['install', '-y', '--no-install-recommends', name], { env });
    let result = await install();
    if (result.code !== 0) {
      await run('apt-get', ['update'], { env });
      result = await install();
    }
    return { ok: result.code === 0 };
  });
  if (!ok) throw new Error(`apt-get could not install ${program}: ${howTo}`);
}

/** Debian starts a fresh daemon by itself unless this file says no. */
function forbidDaemons() {
  const policy = '/usr/sbin/policy-rc.d';
  if (!existsSync(policy)) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
}
