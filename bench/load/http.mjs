import { Agent, request } from 'node:http';

const agent = new Agent({ keepAlive: true, maxSockets: Infinity, noDelay: true });

/**
 * Sends JSON.
 * @returns {Promise<import('node:http').IncomingMessage>} its body not read yet
 * @throws Error with status and body when the answer is none of 2xx
 */
export function post(url, body, headers = {}) {
  const text = JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      agent,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers },
    });
    sent.once('error', reject);
    sent.once('response', (response) => {
      if (response.statusCode < 300) resolve(response.setEncoding('utf8'));
      else
        void readText(response).then((answer) => reject(new Error(`${url} answered ${response.statusCode} ${answer}`)));
    });
    sent.end(text);
  });
}

export async function readText(response) {
  let text = '';
  for await (const piece of response) text += piece;
  return text;
}

/** Calls `onFrame(event, data)` for each frame of an event stream, until it ends. */
export function readFrames(response, onFrame) {
  return new Promise((resolve, reject) => {
    let buffer = '';
    response.on('data', (text) => {
      buffer += text;
      let start = 0;
      for (let end = buffer.indexOf('\n\n'); end >= 0; end = buffer.indexOf('\n\n', start)) {
        const frame = buffer.slice(start, end);
        start = end + 2;
        const data = frame.indexOf('data: ');
        if (data >= 0) onFrame(/^event: (.*)$/m.exec(frame)?.[1], frame.slice(data + 6));
      }
      buffer = buffer.slice(start);
    });
    response.once('end', resolve);
    response.once('error', reject);
    response.once('close', () => response.complete || reject(new Error('the stream was cut')));
  });
}
