import { seen, withoutMiddle, type Seen } from './comparison.js';
import { exchange } from './exchange.js';
import { Normaliser } from './normalise.js';
import type { Answer, Recording, StoredBody } from './recordings.js';

/** What this server did in a recorded case. */
export interface Replay {
  readonly seen: Seen;
  readonly answer: Answer;
}

/** Sends the recorded requests of a case and reads what was stored; values that change become placeholders. */
export async function replay(port: number, recording: Recording): Promise<Replay> {
  for (const request of recording.setup ?? []) await exchange(port, request);
  const answer = await exchange(port, recording.request);
  const stored: StoredBody[] = [];
  for (const { path } of recording.stored ?? []) {
    const { status, body = '' } = await exchange(port, { method: 'GET', path });
    stored.push({ path, status, body });
  }
  return { seen: normalised(recording, answer, stored), answer };
}

function normalised(recording: Recording, answer: Answer, stored: readonly StoredBody[]): Seen {
  const normaliser = new Normaliser();
  const { omitted, cut, frames: wanted = [], body: wantedBody } = recording.expect;
  const headers = Object.entries(answer.headers ?? {}).map(([name, value]) => [name, normaliser.text(value)]);
  const frames = omitted === true ? withoutMiddle(answer.frames ?? [], wanted.length) : answer.frames;
  const body = cut === true ? answer.body?.slice(0, wantedBody?.length) : answer.body;
  const shown: Answer = {
    status: answer.status,
    headers: Object.fromEntries(headers) as Record<string, string>,
    ...(frames !== undefined && { frames: frames.map((frame) => normaliser.text(frame)) }),
    ...(body !== undefined && { body: normaliser.text(body) }),
  };
  return seen(
    shown,
    stored.map((item) => ({ ...item, body: normaliser.text(item.body) })),
  );
}
