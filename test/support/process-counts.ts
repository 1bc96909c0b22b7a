import { isFullRun } from './property-runs.js';

/** With how many processes a case of several runs: two and three in the closing run, else three, which holds both. */
export const PROCESS_COUNTS: readonly number[] = isFullRun() ? [2, 3] : [3];

/** The same for a case that is about one process and another one: a third is one more of these. */
export const PAIR_COUNTS: readonly number[] = isFullRun() ? [2, 3] : [2];
