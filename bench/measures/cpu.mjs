import { summary } from '../lib/rounds.mjs';
import { rowOf } from '../lib/table.mjs';
import { CONCURRENCIES, compare } from './throughput.mjs';

/** Processor time of the server for a run, in the rounds against `same-rows`. */
export const cpu = {
  name: 'cpu',
  async measure({ servers, once }) {
    const measured = await once('same-rows', () => compare(servers, { peer: 'same-rows', coalesce: false }));
    return CONCURRENCIES.map((concurrency) =>
      rowOf({
        measure: 'cpu',
        name: `processor time of a run, ${concurrency} at once`,
        unit: 'ms',
        peer: 'same-rows',
        aim: { of: 'ratio', atMost: 2.5 },
        ...summary(measured.get(concurrency), ({ cpuMs }) => cpuMs),
      }),
    );
  },
};
