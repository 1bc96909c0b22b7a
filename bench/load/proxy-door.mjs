import { post, readFrames } from './http.mjs';
import { checkWhole } from './whole.mjs';

/** One answer of the model through the bare proxy: from the question to the first piece of text. */
export async function askProxy({ target, text = 'Hello', expected }) {
  const startedAt = performance.now();
  const seen = { text: '', firstAt: undefined, last: undefined };
  const body = { model: 'bench', stream: true, messages: [{ role: 'user', content: text }] };
  await readFrames(await post(`${target}/chat/completions`, body), (_event, data) => {
    seen.last = data;
    const piece = data === '[DONE]' ? undefined : JSON.parse(data).choices[0]?.delta?.content;
    if (piece === undefined) return;
    seen.firstAt ??= performance.now();
    seen.text += piece;
  });
  checkWhole(seen, expected, '[DONE]');
  return { runMs: performance.now() - startedAt, firstMs: seen.firstAt - startedAt };
}
