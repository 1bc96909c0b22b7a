import { wordsOf } from '../lib/answer.mjs';
import { startLoads } from '../lib/loads.mjs';
import { cpuMsOf } from '../lib/process-facts.mjs';
import { alternate } from '../lib/rounds.mjs';

export const CONCURRENCIES = [1, 8, 64];
const WARM_UP_RUNS = 300;
const ROUNDS = 5;
const ROUND_MS = 2500;
const expected = wordsOf(50).join('');

/**
 * Runs in new sessions, by turns on the product and on a peer.
 * @param {import('../lib/servers.mjs').Servers} servers
 * @param {{ peer: 'floor' | 'same-rows', coalesce: boolean }} options
 * @returns {Promise<Map<number, Side[]>>} for each concurrency its rounds
 *
 * @typedef {Record<'product' | 'peer', { perSecond: number, cpuMs: number }>} Side `cpuMs` of the server, per run
 */
export async function compare(servers, { peer, coalesce }) {
  const model = await servers.model();
  const product = await servers.product({ ...model.env, BRIDLE_EVENTS_COALESCE: String(coalesce) });
  const other = await servers.peer(peer, model.url);
  const loads = servers.keep(await startLoads());

  for (const { ready } of [product, other]) {
    await loads.load({ door: 'sse', target: ready.http, concurrency: 16, runs: WARM_UP_RUNS, expected });
  }
  const measured = new Map();
  for (const concurrency of CONCURRENCIES) {
    const side = (server) => () => oneRound(loads, server, concurrency);
    measured.set(concurrency, await alternate(ROUNDS, { product: side(product), peer: side(other) }));
  }
  return measured;
}

async function oneRound(loads, { pid, ready }, concurrency) {
  const cpuBefore = cpuMsOf(pid);
  const { runs, wallMs } = await loads.load({
    door: 'sse',
    target: ready.http,
    concurrency,
    forMs: ROUND_MS,
    expected,
  });
  return { perSecond: (runs * 1000) / wallMs, cpuMs: (cpuMsOf(pid) - cpuBefore) / runs };
}
