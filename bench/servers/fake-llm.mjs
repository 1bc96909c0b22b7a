/**
 * A server that speaks OpenAI's chat completions and always gives the same answer, for the bench:
 *
 *   --deltas N     pieces of the answer, each in a turn of the event loop of its own (default 50)
 *   --wait-ms N    before the first of them (default 0)
 *
 * After the message `hold` to the process an answer stops behind its first piece, until the message `release`.
 */
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { wordsOf } from '../lib/answer.mjs';
import { listen } from './lib/ready.mjs';

const { values } = parseArgs({
  options: {
    deltas: { type: 'string', default: '50' },
    'wait-ms': { type: 'string', default: '0' },
  },
});
const waitMs = Number(values['wait-ms']);
const words = wordsOf(Number(values.deltas));

const frame = (fields) =>
  Buffer.from(
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1700000000, model: 'bench', ...fields })}\n\n`,
  );
const choice = (delta, finish_reason = null) => frame({ choices: [{ index: 0, delta, finish_reason }] });

const [FIRST, ...DELTAS] = words.map((content) => choice({ content }));
const END = Buffer.concat([
  choice({}, 'stop'),
  frame({
    choices: [],
    usage: { prompt_tokens: 10, completion_tokens: words.length, total_tokens: 10 + words.length },
  }),
  Buffer.from('data: [DONE]\n\n'),
]);

let held = Promise.resolve();
let release = () => undefined;
process.on('message', (message) => {
  if (message === 'hold') held = new Promise((resolve) => (release = resolve));
  else release();
});

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function answer(response) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  if (waitMs > 0) await sleep(waitMs);
  response.write(FIRST);
  await held;
  for (const delta of DELTAS) {
    await turn();
    response.write(delta);
  }
  await turn();
  response.end(END);
}

listen(
  createServer((request, response) => {
    response.socket.setNoDelay(true);
    // The answer does not depend on the question: it is read and thrown away.
    request.resume().once('end', () => void answer(response));
  }),
);
