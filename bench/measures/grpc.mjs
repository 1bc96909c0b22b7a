import { wordsOf } from '../lib/answer.mjs';
import { startLoads } from '../lib/loads.mjs';
import { alternate, summary } from '../lib/rounds.mjs';
import { rowOf } from '../lib/table.mjs';

const CONCURRENCIES = [8, 64];
const WARM_UP_RUNS = 200;
const ROUNDS = 5;
const ROUND_MS = 2500;

/** Runs per second over gRPC, against the event stream of the same process. */
export const grpc = {
  name: 'grpc',
  async measure({ servers }) {
    const model = await servers.model();
    const { ready } = await servers.product(model.env);
    const loads = servers.keep(await startLoads());
    const over = (door, target, size) => loads.load({ door, target, expected: wordsOf(50).join(''), ...size });
    const doors = { product: ['grpc', ready.grpc], peer: ['sse', ready.http] };

    for (const door of Object.values(doors)) await over(...door, { concurrency: 16, runs: WARM_UP_RUNS });
    const rows = [];
    for (const concurrency of CONCURRENCIES) {
      const side = (door) => async () => {
        const { runs, wallMs } = await over(...door, { concurrency, forMs: ROUND_MS });
        return (runs * 1000) / wallMs;
      };
      const rounds = await alternate(ROUNDS, { product: side(doors.product), peer: side(doors.peer) });
      rows.push(
        rowOf({
          measure: 'grpc',
          name: `runs/s over gRPC, ${concurrency} at once`,
          unit: 'runs/s',
          peer: 'own event stream',
          aim: { of: 'ratio', atLeast: 1 },
          ...summary(rounds),
        }),
      );
    }
    return rows;
  },
};
