import { createParser } from 'eventsource-parser';
import { request } from 'undici';

/** Streams the text of an OpenAI-compatible model's answer: the pieces of each chunk of bytes together. */
export async function* askModel(baseUrl, text) {
  const { statusCode, body } = await request(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ model: 'bench', stream: true, messages: [{ role: 'user', content: text }] }),
  });
  if (statusCode !== 200) throw new Error(`the model answered ${statusCode}`);
  let pieces = [];
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data === '[DONE]') return;
      const piece = JSON.parse(data).choices[0]?.delta?.content;
      if (piece) pieces.push(piece);
    },
  });
  const decoder = new TextDecoder();
  for await (const bytes of body) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    yield pieces;
    pieces = [];
  }
}
