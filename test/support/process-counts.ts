import { isFullRun } from './property-runs.js';

/** With how many processes a case of several runs: two and three in the closing run, else three, which holds both. */
export const PROCESS_COUNTS: readonly number[] = isFullRun() ? [2, 3] : [3];
