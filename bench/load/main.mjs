/**
 * The load generator, a process of its own. Each message over the channel is one load:
 * `{ door, target, concurrency, forMs | runs, ... }`; the answer is `{ runs, wallMs, runMs, firstMs }` or `{ fault }`.
 * A load of a number of runs also says `{ opened: true }` when each of them has shown text.
 */
import { runOverGrpc } from './grpc-door.mjs';
import { runOverSse } from './sse-door.mjs';
import { askProxy } from './proxy-door.mjs';

const DOORS = { sse: runOverSse, grpc: runOverGrpc, proxy: askProxy };

async function load({ door, concurrency, forMs = Infinity, runs = Infinity, ...call }) {
  const measured = [];
  let begun = 0;
  let shown = 0;
  const onFirst = () => {
    shown += 1;
    if (shown === runs) process.send({ opened: true });
  };
  const startedAt = performance.now();
  const work = async () => {
    while (begun < runs && performance.now() - startedAt < forMs) {
      begun += 1;
      measured.push(await DOORS[door]({ ...call, onFirst }, begun));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return {
    runs: measured.length,
    wallMs: performance.now() - startedAt,
    runMs: measured.map((run) => run.runMs),
    firstMs: measured.map((run) => run.firstMs),
  };
}

process.on('message', (job) => {
  load(job).then(
    (result) => process.send(result),
    (error) => process.send({ fault: error.message }),
  );
});
process.on('disconnect', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));
process.stdout.write('ready \n');
