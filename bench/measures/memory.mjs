import { wordsOf } from '../lib/answer.mjs';
import { startLoads } from '../lib/loads.mjs';
import { settledKibOf } from '../lib/settled-memory.mjs';
import { median } from '../lib/statistics.mjs';
import { rowOf } from '../lib/table.mjs';

const STREAMS = 500;
const WARM_UP = { runs: 600, concurrency: 64 };
/** Each on a process of its own: one that has once held 500 runs keeps its heap. */
const ROUNDS = 3;
/** Longer than it takes to open all runs and to read the memory. */
const SCRIPT_PAUSE_MS = 120_000;

/** What an open run holds in the server's memory, at 500 open streams. */
export const memory = {
  name: 'memory',
  async measure({ servers }) {
    const sides = {
      product: () => withFakeModel(servers, (model) => servers.product(model.env)),
      peer: () => withFakeModel(servers, (model) => servers.peer('same-rows', model.url)),
      script: () => withScript(servers),
    };
    const rounds = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const result = {};
      for (const [side, measure] of Object.entries(sides)) {
        result[side] = await measure();
        await servers.stop();
      }
      rounds.push(result);
    }
    const middle = (side) => median(rounds.map((round) => round[side]));
    const row = (model, facts) =>
      rowOf({ measure: 'memory', name: `memory of an open run, ${STREAMS} open, ${model}`, unit: 'KiB', ...facts });
    return [
      row('fake model', {
        figure: middle('product'),
        peer: 'same-rows',
        peerFigure: middle('peer'),
        ratio: median(rounds.map(({ product, peer }) => product / peer)),
        aim: { of: 'figure', atMost: 100 },
      }),
      row('script', { figure: middle('script'), peer: '', aim: { of: 'figure', atMost: 60 } }),
    ];
  },
};

/** The model holds every answer after its first piece; the runs end whole once it lets go. */
async function withFakeModel(servers, start) {
  const model = await servers.model();
  const server = await start(model);
  const loads = servers.keep(await startLoads());
  const job = { door: 'sse', target: server.ready.http, expected: wordsOf(50).join('') };
  await loads.load({ ...job, ...WARM_UP });
  const before = await settledKibOf(server.pid);
  model.channel.send('hold');
  const { opened, ended } = loads.open({ ...job, runs: STREAMS, concurrency: STREAMS });
  await opened;
  const after = await settledKibOf(server.pid);
  model.channel.send('release');
  await ended;
  return (after - before) / STREAMS;
}

/** The script pauses after its first piece, for longer than anybody waits: these runs are open when they are counted. */
async function withScript(servers) {
  const server = await servers.product({ BRIDLE_MODEL_PROVIDER: 'script' });
  const loads = servers.keep(await startLoads());
  const job = { door: 'sse', target: server.ready.http };
  await loads.load({ ...job, text: 'stream:50:0', expected: wordsOf(50).join(''), ...WARM_UP });
  const before = await settledKibOf(server.pid);
  const text = `stream:2:${SCRIPT_PAUSE_MS}`;
  const { opened } = loads.open({ ...job, text, expected: '', runs: STREAMS, concurrency: STREAMS });
  await opened;
  return ((await settledKibOf(server.pid)) - before) / STREAMS;
}
