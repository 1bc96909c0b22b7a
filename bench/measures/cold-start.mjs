import { alternate, summary } from '../lib/rounds.mjs';
import { rowOf } from '../lib/table.mjs';

const ROUNDS = 7;

/** From the start of the process to its first healthy answer, against the smallest Nest application. */
export const coldStart = {
  name: 'cold-start',
  async measure({ servers }) {
    const folder = servers.folder();
    const product = () => servers.product({}, folder);
    const bareNest = () => servers.plain('bare-nest');
    // The files are read from the disk once, and the data is there, as at a restart.
    for (const start of [product, bareNest]) await timeOf(start);
    const rounds = await alternate(ROUNDS, { product: () => timeOf(product), peer: () => timeOf(bareNest) });
    return [
      rowOf({
        measure: 'cold-start',
        name: 'cold start to the first healthy answer',
        unit: 'ms',
        peer: 'bare Nest',
        aim: { of: 'ratio', atMost: 3 },
        ...summary(rounds),
      }),
    ];
  },
};

async function timeOf(start) {
  const startedAt = performance.now();
  const { ready, stop } = await start();
  const response = await fetch(`${ready.http}/health`);
  const healthyMs = performance.now() - startedAt;
  if (response.status !== 200) throw new Error(`/health answered ${response.status}`);
  await response.text();
  await stop();
  return healthyMs;
}
