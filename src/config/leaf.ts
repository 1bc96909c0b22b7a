import { z } from 'zod';

/** What the loader knows of one key beside its schema. */
export interface LeafFacts {
  /** Completes the sentence "`key` must be …". */
  readonly accepts: string;
  /** How the text of an environment variable becomes a value; a text that does not fit is returned as it is. */
  readonly fromText: (text: string) => unknown;
  /**
   * `value`: the whole value is secret and is refused in a YAML file; `part`: a URL that may hold a password;
   * `digest`: fine in a file, hidden when printed. A secret may be given as `@/path/of/a/file`.
   */
  readonly secret?: 'value' | 'part' | 'digest';
  /** Values that a reader of the documentation may expect, and that this version refuses. */
  readonly notYet?: readonly string[];
}

/** The facts of every key's schema. */
export const leafFacts = z.registry<LeafFacts>();

/** The longest delay a Node timer keeps, milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const same = (text: string): string => text;
const toNumber = (text: string): unknown => (/^-?\d{1,15}$/.test(text) ? Number(text) : text);
const toBoolean = (text: string): unknown => (text === 'true' ? true : text === 'false' ? false : text);
const toList = (text: string): string[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

/** A key with facts of its own. */
export function leaf<T extends z.ZodType>(schema: T, facts: Partial<LeafFacts> & { accepts: string }): T {
  leafFacts.add(schema, { fromText: same, ...facts });
  return schema;
}

/** A whole number of something. */
export function count(what: string, min: number, max: number = Number.MAX_SAFE_INTEGER): z.ZodInt {
  const range = max === Number.MAX_SAFE_INTEGER ? `, at least ${min}` : ` from ${min} to ${max}`;
  return leaf(z.int().min(min).max(max), { accepts: `a whole number of ${what}${range}`, fromText: toNumber });
}

/** A time in milliseconds, short enough for a timer. */
export const millis = (min = 1): z.ZodInt => count('milliseconds', min, MAX_TIMER_MS);

export const bytes = (min = 1): z.ZodInt => count('bytes', min);

export const port = (): z.ZodInt =>
  leaf(z.int().min(0).max(65_535), { accepts: 'a port from 0 to 65535 (0 = any free port)', fromText: toNumber });

export const flag = (): z.ZodBoolean => leaf(z.boolean(), { accepts: 'true or false', fromText: toBoolean });

/** @param notYet values that are known and refused, with a sentence of their own */
export function oneOf<const T extends string>(values: readonly T[], notYet: readonly string[] = []): z.ZodType<T> {
  return leaf(z.enum(values as readonly [T, ...T[]]) as unknown as z.ZodType<T>, {
    accepts: `one of ${values.join(', ')}`,
    notYet,
  });
}

/** A text that is not blank and holds no control character. */
export const text = (accepts: string, fits: (text: string) => boolean = () => true): z.ZodString =>
  leaf(
    z.string().refine((value) => value.trim() !== '' && !/\p{Cc}/u.test(value) && fits(value)),
    { accepts },
  );

/** A text that may be absent; an empty value in YAML or the environment counts as absent. */
export const optionalText = (
  accepts: string,
  options: { fits?: (text: string) => boolean; secret?: LeafFacts['secret'] } = {},
): z.ZodOptional<z.ZodString> =>
  leaf(text(accepts, options.fits).optional(), options.secret ? { accepts, secret: options.secret } : { accepts });

/** A list of texts; comma-separated in the environment. */
export const list = (accepts: string, fits: (entry: string) => boolean): z.ZodArray<z.ZodString> =>
  leaf(z.array(z.string().refine(fits)), { accepts, fromText: toList });

/** True for an absolute http or https URL without user, query and fragment. */
export function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && url.username === '' && url.search === '' && url.hash === '';
}
