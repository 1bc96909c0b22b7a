import type { Answer, Recording, StoredBody } from './recordings.js';

/** Headers that are part of the wire; the others belong to the server. */
const COMPARED = ['content-type', 'location', 'allow', 'vary', 'www-authenticate'];

const isCompared = (name: string): boolean => COMPARED.includes(name) || name.startsWith('access-control-');

/** What of an exchange is compared, in one shape for both sides. */
export interface Seen {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly frames?: readonly string[];
  readonly stored: readonly StoredBody[];
}

/** The parts of an answer that count. */
export function seen(answer: Answer, stored: readonly StoredBody[] = []): Seen {
  const headers = Object.entries(answer.headers ?? {})
    .filter(([name]) => isCompared(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    status: answer.status,
    headers: Object.fromEntries(headers),
    ...(answer.body !== undefined && answer.frames === undefined && { body: inSetOrder(answer.body) }),
    ...(answer.frames !== undefined && { frames: answer.frames.map(inSetOrder) }),
    stored: stored.map((item) => ({ ...item, body: inSetOrder(item.body) })),
  };
}

/** The peer builds this list from a set. */
function inSetOrder(text: string): string {
  return text.replace(/"longRunningToolIds":(\[[^\]]+\])/g, (_, list: string) => {
    const sorted = (JSON.parse(list) as string[]).sort();
    return `"longRunningToolIds":${JSON.stringify(sorted)}`;
  });
}

/** What the peer did. */
export const expected = ({ expect: answer, stored }: Recording): Seen => seen(answer, stored);

const MASK = /<(?:cut[^>]*|advice|description|instruction)>/;

/** The actual answer with the peer's masks in the places where it has any text. */
export function masked(actual: Seen, wanted: Seen): Seen {
  const fit = (text: string, pattern: string | undefined): string =>
    pattern !== undefined && MASK.test(pattern) && fits(text, pattern) ? pattern : text;
  return {
    ...actual,
    ...(actual.body !== undefined && { body: fit(actual.body, wanted.body) }),
    ...(actual.frames && { frames: actual.frames.map((frame, index) => fit(frame, wanted.frames?.[index])) }),
  };
}

function fits(text: string, pattern: string): boolean {
  const pieces = pattern.split(new RegExp(MASK, 'g')).map((piece) => piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${pieces.join('.*')}$`, 's').test(text);
}

/** A long stream is recorded by its first two frames and its last ones. */
export function withoutMiddle(frames: readonly string[], kept: number): readonly string[] {
  return frames.length <= kept ? frames : [...frames.slice(0, 2), ...frames.slice(2 - kept)];
}
