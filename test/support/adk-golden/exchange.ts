import { rawConnect } from '../raw-http.js';
import type { Answer, RecordedRequest } from './recordings.js';

const END_MS = 60_000;

/** Sends a recorded request byte for byte and reads the answer until the connection closes. */
export async function exchange(port: number, request: RecordedRequest): Promise<Answer> {
  const socket = await rawConnect(port);
  const chunks: Buffer[] = [];
  const closed = new Promise<void>((resolve, reject) => {
    socket.setTimeout(END_MS, () => socket.destroy(new Error(`${request.method} ${request.path}: no end`)));
    socket.on('data', (bytes: Buffer) => chunks.push(bytes));
    socket.once('close', () => resolve());
    socket.once('error', reject);
  });
  socket.write(toBytes(port, request));
  await closed;
  return parseAnswer(Buffer.concat(chunks), request.method);
}

/** Bodies of chunked requests are recorded as they go over the wire when they begin with a chunk size. */
function toBytes(port: number, request: RecordedRequest): Buffer {
  const fill = (text: string): string =>
    text
      .replaceAll('{{port}}', String(port))
      .replaceAll('<host>', `127.0.0.1:${port}`)
      .replace(/\{\{repeat:(.):(\d+)\}\}/g, (_, letter: string, count: string) => letter.repeat(Number(count)));
  let body = request.bodyBase64 ? Buffer.from(request.bodyBase64, 'base64') : Buffer.from(fill(request.body ?? ''));
  const headers = Object.entries(request.headers ?? {});
  const has = (name: string): boolean => headers.some(([key]) => key.toLowerCase() === name);
  const isChunked = has('transfer-encoding');
  if (isChunked && !/^[0-9a-f]+\r\n/.test(body.toString('latin1')))
    body = Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]);
  const lines = [`${request.method} ${fill(request.path)} HTTP/${request.httpVersion ?? '1.1'}`];
  if (!has('host')) lines.push(`Host: 127.0.0.1:${port}`);
  lines.push(...headers.map(([key, value]) => `${key}: ${fill(value)}`));
  if (!has('connection')) lines.push('Connection: close');
  const hasBody = request.body !== undefined || request.bodyBase64 !== undefined;
  if (hasBody && !isChunked && !has('content-length')) lines.push(`Content-Length: ${body.length}`);
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]);
}

function parseAnswer(raw: Buffer, method: string): Answer {
  const { head, rest } = splitHead(raw);
  const [statusLine = '', ...lines] = head.split('\r\n');
  const status = Number(statusLine.split(' ')[1]);
  // A `100 Continue` comes before the real answer.
  if (status === 100) return parseAnswer(rest, method);
  const headers: Record<string, string> = {};
  for (const line of lines)
    headers[line.slice(0, line.indexOf(':')).toLowerCase()] = line.slice(line.indexOf(':') + 1).trim();
  const body = (headers['transfer-encoding'] === 'chunked' ? dechunk(rest) : rest).toString('utf8');
  if (headers['content-type']?.startsWith('text/event-stream') === true)
    return { status, headers, frames: body.split(/(?<=\n\n)/).filter((frame) => frame !== '') };
  return { status, headers, body: method === 'HEAD' ? '' : body };
}

function splitHead(raw: Buffer): { head: string; rest: Buffer } {
  const end = raw.indexOf('\r\n\r\n');
  if (end < 0) throw new Error(`no HTTP answer: ${raw.toString('utf8')}`);
  return { head: raw.subarray(0, end).toString('latin1'), rest: raw.subarray(end + 4) };
}

function dechunk(raw: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < raw.length;) {
    const line = raw.indexOf('\r\n', at);
    const size = Number.parseInt(raw.subarray(at, line).toString('latin1'), 16);
    if (!(size > 0)) break;
    pieces.push(raw.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
  return Buffer.concat(pieces);
}
