import { wordsOf } from '../lib/answer.mjs';
import { startLoads } from '../lib/loads.mjs';
import { alternate, summary } from '../lib/rounds.mjs';
import { median } from '../lib/statistics.mjs';
import { rowOf } from '../lib/table.mjs';

/** Earlier turns, and on how many sessions: a measured run adds a turn, which must stay few beside those. */
const SIZES = [
  { turns: 10, count: 50 },
  { turns: 100, count: 5 },
  { turns: 1000, count: 1 },
];
const ROUNDS = 5;
const ROUND_RUNS = 20;
const expected = wordsOf(50).join('');

/** The time of a run on sessions of 10, 100 and 1000 earlier turns. */
export const longSessions = {
  name: 'long-sessions',
  async measure({ servers }) {
    const model = await servers.model();
    const { ready } = await servers.product(model.env);
    const target = ready.http;
    const sides = {};
    await Promise.all(
      SIZES.map(async ({ turns, count }) => {
        const sessions = await Promise.all(Array.from({ length: count }, () => newSession(target)));
        const loads = servers.keep(await startLoads());
        const load = (runs, concurrency) => loads.load({ door: 'sse', target, sessions, runs, concurrency, expected });
        await load(turns * count, Math.min(count, 8));
        sides[turns] = async () => median((await load(ROUND_RUNS, 1)).runMs);
      }),
    );
    const rounds = await alternate(ROUNDS, sides);
    return [rowFor(100, rounds), rowFor(1000, rounds, { of: 'ratio', atMost: 2.5 })];
  },
};

function rowFor(turns, rounds, aim) {
  return rowOf({
    measure: 'long-sessions',
    name: `a run after ${turns} turns, p50`,
    unit: 'ms',
    peer: 'after 10',
    aim,
    ...summary(rounds.map((round) => ({ product: round[turns], peer: round[10] }))),
  });
}

async function newSession(target) {
  const response = await fetch(`${target}/v1/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ agent: 'harness_agent' }),
  });
  return (await response.json()).id;
}
