import { wordsOf } from '../lib/answer.mjs';
import { startLoads } from '../lib/loads.mjs';
import { alternate } from '../lib/rounds.mjs';
import { median, quantile } from '../lib/statistics.mjs';
import { rowOf } from '../lib/table.mjs';

const MODEL_WAITS_MS = 20;
const WARM_UP_RUNS = 150;
const ROUNDS = 8;
const ROUND_RUNS = 75;

/** From the message to the first piece of text, beside a proxy that only forwards the model's stream. */
export const firstToken = {
  name: 'first-token',
  async measure({ servers }) {
    const model = await servers.model('--wait-ms', String(MODEL_WAITS_MS));
    const product = await servers.product(model.env);
    const proxy = await servers.plain('proxy', model.url);
    const loads = servers.keep(await startLoads());
    const ask = async (door, { ready }, runs) =>
      (await loads.load({ door, target: ready.http, concurrency: 1, runs, expected: wordsOf(50).join('') })).firstMs;

    await ask('sse', product, WARM_UP_RUNS);
    await ask('proxy', proxy, WARM_UP_RUNS);
    const rounds = await alternate(ROUNDS, {
      product: () => ask('sse', product, ROUND_RUNS),
      peer: () => ask('proxy', proxy, ROUND_RUNS),
    });
    const all = (side) => rounds.flatMap((round) => round[side]);
    const row = (share, atMost, difference) =>
      rowOf({
        measure: 'first-token',
        name: `first token, p${share * 100}`,
        unit: 'ms',
        figure: quantile(all('product'), share),
        peer: 'bare proxy',
        peerFigure: quantile(all('peer'), share),
        difference,
        aim: { of: 'difference', atMost },
      });
    return [
      row(0.5, 1.5, median(rounds.map(({ product: ours, peer }) => median(ours) - median(peer)))),
      // A round is too short to know its p99: all rounds together.
      row(0.99, 8, quantile(all('product'), 0.99) - quantile(all('peer'), 0.99)),
    ];
  },
};
