import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Clock ticks of the kernel in a second. */
let ticksPerSecond;

/**
 * The processor time that a process has used since its start, in milliseconds: user and system, all threads.
 * The kernel counts in steps of 10 ms.
 * @throws Error where there is no `/proc`
 */
export function cpuMsOf(pid) {
  // The second field, the command's name, may hold blanks and brackets.
  const fields = readProc(pid, 'stat').split(') ').at(-1).split(' ');
  ticksPerSecond ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
}

/**
 * What a process holds in memory, in KiB.
 * @throws Error where there is no `/proc`
 */
export function rssKibOf(pid) {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readProc(pid, 'status'))[1]);
}

function readProc(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch (error) {
    throw new Error(`processor time and memory are read from /proc/${pid}/${file}, which is not there`, {
      cause: error,
    });
  }
}
