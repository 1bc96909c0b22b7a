import { readFrames, type SseFrame } from './sse-client.js';

/** The frames of a stream that arrives in pieces of `size` bytes. */
async function framesOf(text: string, size: number): Promise<SseFrame[]> {
  const bytes = new TextEncoder().encode(text);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.subarray(at, at + size));
      controller.close();
    },
  });
  const frames: SseFrame[] = [];
  for await (const frame of readFrames(body)) frames.push(frame);
  return frames;
}

const STREAM = [
  'retry: 2000\n\n',
  'id: 1\nevent: run.queued\ndata: {"a":"封面"}\n\n',
  ': ping\n\n',
  'data: one\ndata: two\n\n',
  'id: 3\nevent: run.completed\ndata: {}\n\n',
  'id: 4\nevent: cut in the mid',
].join('');

describe('readFrames', () => {
  it.each([1, 7, 10_000])('reads the whole frames of a stream that comes in pieces of %d bytes', async (size) => {
    expect(await framesOf(STREAM, size)).toEqual([
      { id: '1', event: 'run.queued', data: '{"a":"封面"}' },
      { id: undefined, event: undefined, data: 'one\ntwo' },
      { id: '3', event: 'run.completed', data: '{}' },
    ]);
  });
});
