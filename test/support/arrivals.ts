import { openSse, type SseFrame, type SseRequest } from './sse-client.js';

/** When a part of a stream was made, by its own words, and when its reader had it. Both epoch milliseconds. */
export interface Arrival {
  readonly madeMs: number;
  readonly arrivedMs: number;
}

/** The time of a text delta in an envelope of `/v1`; undefined for any other frame. */
export function envelopeTime({ event, data }: SseFrame): number | undefined {
  if (event !== 'run.message_delta') return undefined;
  return Date.parse((JSON.parse(data) as { data: { time: string } }).data.time);
}

/** The same on the ADK wire. */
export function adkTime({ data }: SseFrame): number | undefined {
  const { partial, timestamp } = JSON.parse(data) as { partial?: boolean; timestamp: number };
  return partial === true ? timestamp * 1000 : undefined;
}

/** Reads a stream to its end and notes when each of its deltas came. */
export async function readArrivals(
  url: string,
  timeOf: (frame: SseFrame) => number | undefined,
  request: SseRequest = {},
): Promise<Arrival[]> {
  const arrivals: Arrival[] = [];
  for await (const frame of (await openSse(url, request)).frames) {
    const madeMs = timeOf(frame);
    if (madeMs !== undefined) arrivals.push({ madeMs, arrivedMs: Date.now() });
  }
  return arrivals;
}

/** One block of a stream of server-sent events as it came, comments included. */
export interface Block {
  readonly text: string;
  readonly arrivedMs: number;
}

/** Every block of a stream, comments included, until it ends. */
export async function readBlocks(body: ReadableStream<Uint8Array>): Promise<Block[]> {
  const blocks: Block[] = [];
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    const parts = (rest + decoder.decode(bytes, { stream: true })).split('\n\n');
    rest = parts.pop() ?? '';
    blocks.push(...parts.map((text) => ({ text, arrivedMs: Date.now() })));
  }
  return blocks;
}
