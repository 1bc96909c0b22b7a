import { summary } from '../lib/rounds.mjs';
import { rowOf } from '../lib/table.mjs';
import { CONCURRENCIES, compare } from './throughput.mjs';

/** Runs per second, each in a new session: every event a row of its own, then with waiting deltas joined. */
export const runs = {
  name: 'runs',
  async measure({ servers, once }) {
    const plain = await once('same-rows', () => compare(servers, { peer: 'same-rows', coalesce: false }));
    await servers.stop();
    const joined = await compare(servers, { peer: 'floor', coalesce: true });
    return [...rowsOf(plain, 'an event a delta', 'same-rows'), ...rowsOf(joined, 'waiting deltas joined', 'floor')];
  },
};

function rowsOf(measured, how, peer) {
  return CONCURRENCIES.map((concurrency) =>
    rowOf({
      measure: 'runs',
      name: `runs/s, ${concurrency} at once, ${how}`,
      unit: 'runs/s',
      peer,
      aim: { of: 'ratio', atLeast: 0.6 },
      ...summary(measured.get(concurrency), ({ perSecond }) => perSecond),
    }),
  );
}
