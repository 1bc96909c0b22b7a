import { coldStart } from './cold-start.mjs';
import { cpu } from './cpu.mjs';
import { firstToken } from './first-token.mjs';
import { grpc } from './grpc.mjs';
import { longSessions } from './long-sessions.mjs';
import { mariadb } from './mariadb.mjs';
import { memory } from './memory.mjs';
import { runs } from './runs.mjs';

/**
 * Every measure, in the order in which they run.
 * @type {readonly Measure[]}
 *
 * @typedef {object} Measure
 * @property {string} name what `--only` takes
 * @property {(bench: Bench) => Promise<import('../lib/table.mjs').Row[]>} measure
 *
 * @typedef {object} Bench
 * @property {import('../lib/servers.mjs').Servers} servers what it starts here is stopped after it
 * @property {<T>(key: string, make: () => Promise<T>) => Promise<T>} once rounds that two measures look at are run once
 */
export const MEASURES = [runs, cpu, firstToken, memory, longSessions, mariadb, grpc, coldStart];
