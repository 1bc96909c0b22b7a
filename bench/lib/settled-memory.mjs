import { setTimeout as sleep } from 'node:timers/promises';
import { rssKibOf } from './process-facts.mjs';

const STEP_MS = 500;
const STEPS_AT_MOST = 30;
/** Share by which the memory may still move. */
const STILL = 0.002;

/**
 * What a process holds once garbage is collected and its memory has stopped moving, in KiB. The process must have been
 * started with `collect-on-signal.mjs`.
 */
export async function settledKibOf(pid) {
  let last = rssKibOf(pid);
  for (let step = 0, still = 0; step < STEPS_AT_MOST && still < 3; step += 1) {
    process.kill(pid, 'SIGUSR2');
    await sleep(STEP_MS);
    const now = rssKibOf(pid);
    still = Math.abs(now - last) <= last * STILL ? still + 1 : 0;
    last = now;
  }
  return last;
}
