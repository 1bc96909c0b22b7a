import { readFileSync } from 'node:fs';
import type { Recording, StoredBody } from './recordings.js';

/** What the recording says, and what is said here instead. */
export type Edit = readonly [theirs: string, ours: string];

/**
 * Where this server differs from a recording. All that is not named stays as recorded, so a change cannot hide a
 * second difference.
 */
export interface Change {
  readonly status?: number;
  /** By name; null = not sent. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** Edits of the body, or of the frames one after another, in the order of the text. */
  readonly text?: readonly Edit[];
  /** By position among the stored bodies. */
  readonly stored?: Readonly<Record<string, { readonly status?: number; readonly text?: readonly Edit[] }>>;
}

const CHANGES = new URL('../../wire/adk/golden/changes.json', import.meta.url);

export const readChanges = (): Readonly<Record<string, Change>> =>
  JSON.parse(readFileSync(CHANGES, 'utf8')) as Readonly<Record<string, Change>>;

/**
 * A recording with a change made to it.
 * @throws Error when the recording does not say what an edit replaces
 */
export function changed(recording: Recording, change: Change): Recording {
  const { expect: answer, stored = [] } = recording;
  const { body, frames, ...rest } = answer;
  const headers = withHeaders(answer.headers ?? {}, change.headers ?? {});
  const text = edited(frames?.join('') ?? body ?? '', change.text ?? []);
  const isStream = headers['content-type']?.startsWith('text/event-stream') === true;
  return {
    ...recording,
    expect: {
      ...rest,
      status: change.status ?? answer.status,
      headers,
      ...(isStream ? { frames: text.split(/(?<=\n\n)/).filter((frame) => frame !== '') } : { body: text }),
    },
    stored: stored.map((item, index) => withEdits(item, change.stored?.[index])),
  };
}

function withHeaders(
  recorded: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | null>>,
): Record<string, string> {
  const entries = Object.entries({ ...recorded, ...changes });
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null));
}

function withEdits(item: StoredBody, change: NonNullable<Change['stored']>[string] = {}): StoredBody {
  return { ...item, status: change.status ?? item.status, body: edited(item.body, change.text ?? []) };
}

function edited(text: string, edits: readonly Edit[]): string {
  let done = '';
  let rest = text;
  for (const [theirs, ours] of edits) {
    const at = rest.indexOf(theirs);
    if (at < 0) throw new Error(`the recording does not say ${JSON.stringify(theirs)}`);
    done += rest.slice(0, at) + ours;
    rest = rest.slice(at + theirs.length);
  }
  return done + rest;
}
