/** Replaces what no two runs have in common by placeholders, numbered by first appearance within one case. */

const ID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const UUID = new RegExp(`(?<![0-9A-Za-z])(e-|p-|adk-)?${ID}(?![0-9A-Za-z])`, 'g');
const KINDS: Readonly<Record<string, string>> = { 'e-': 'invocation-id', 'p-': 'patch-id', 'adk-': 'call-id' };
const TIME_KEYS = [
  'timestamp',
  'lastUpdateTime',
  'createTime',
  'creationTimestamp',
  'creation_timestamp',
  'start_time',
  'end_time',
  'startTimestamp',
  'endTimestamp',
];
const TIME = new RegExp(`(\\\\*"(?:${TIME_KEYS.join('|')})\\\\*"\\s*:\\s*)[1-9][0-9]{8,}(?:\\.[0-9]+)?`, 'g');
const ISO = /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:Z|\+00:00)?/g;
const HOST = /(?:127\.0\.0\.1|localhost):[0-9]{4,5}/g;
const LANGUAGE = /("language_version":")[0-9.]+(")/g;

/** One per case; feed it the response first, then what was stored, in order. */
export class Normaliser {
  private readonly seen = new Map<string, string>();
  private readonly counts = new Map<string, number>();

  text(raw: string): string {
    return raw
      .replace(UUID, (id, prefix?: string) => this.placeholder(KINDS[prefix ?? ''] ?? 'uuid', id))
      .replace(TIME, (_, key: string) => key + (key.includes('\\') ? '<time>' : '"<time>"'))
      .replace(ISO, '<time>')
      .replace(HOST, '<host>')
      .replace(LANGUAGE, '$1<version>$2');
  }

  private placeholder(kind: string, value: string): string {
    const known = this.seen.get(value);
    if (known !== undefined) return known;
    const number = (this.counts.get(kind) ?? 0) + 1;
    this.counts.set(kind, number);
    this.seen.set(value, `<${kind}:${number}>`);
    return `<${kind}:${number}>`;
  }
}
