import { randomUUID } from 'node:crypto';
import { post, readFrames, readText } from './http.mjs';
import { checkWhole } from './whole.mjs';

/**
 * One run over `/v1`: a new session unless sessions are given, then a message whose answer is an event stream.
 * @param {{ target: string, text?: string, expected: string, sessions?: readonly string[], onFirst: () => void }} call
 *   `onFirst` is called at the first piece of text
 * @param {number} turn its number in the load: given sessions take turns
 * @returns {Promise<{ runMs: number, firstMs: number }>} from the first request, or from the message on a given
 *   session, to the end of the stream; from the message to the first piece of text
 * @throws Error when the text is not whole or the terminal event is missing
 */
export async function runOverSse({ target, text = 'Hello', expected, sessions, onFirst }, turn) {
  const startedAt = performance.now();
  const sessionId = sessions?.[turn % sessions.length] ?? (await newSession(target));
  const sentAt = performance.now();
  const seen = { text: '', firstAt: undefined, last: undefined };
  const response = await post(
    `${target}/v1/actions`,
    { action: 'message', session_id: sessionId, request_id: randomUUID(), text },
    { accept: 'text/event-stream' },
  );
  await readFrames(response, (event, data) => {
    seen.last = event;
    if (event !== 'run.message_delta') return;
    if (seen.firstAt === undefined) {
      seen.firstAt = performance.now();
      onFirst();
    }
    seen.text += JSON.parse(data).text;
  });
  checkWhole(seen, expected, 'run.completed');
  return { runMs: performance.now() - startedAt, firstMs: seen.firstAt - sentAt };
}

async function newSession(target) {
  const response = await post(`${target}/v1/sessions`, { agent: 'harness_agent' });
  return JSON.parse(await readText(response)).id;
}
