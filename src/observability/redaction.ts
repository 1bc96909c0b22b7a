import { HIDDEN, isSecretName } from '../config/secret-names.js';

const MAX_DEPTH = 8;
/** Shorter ones would hide half of every text. */
const MIN_SECRET_LENGTH = 4;
const CREDENTIALS = /\b(Bearer|Basic)\s+[\w.~+/=-]{6,}/gi;

/** Takes secrets out of what is about to be logged: by the name of a field and by the known secret texts. */
export class Redactor {
  private readonly secrets: readonly string[];

  /** @param secrets the secret values of the configuration */
  constructor(secrets: readonly string[]) {
    this.secrets = secrets
      .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
      .sort((one, other) => other.length - one.length);
  }

  text(text: string): string {
    const known = this.secrets.reduce((shown, secret) => shown.replaceAll(secret, HIDDEN), text);
    return known.replace(CREDENTIALS, `$1 ${HIDDEN}`);
  }

  /** A copy as plain data: errors with their causes, bytes as their number, nothing deeper than eight levels. */
  fields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
    return this.entries(Object.entries(fields), 0);
  }

  private entries(entries: readonly [string, unknown][], depth: number): Record<string, unknown> {
    const shown = entries
      .filter(([, value]) => value !== undefined && typeof value !== 'function')
      .map(([name, value]) => [name, this.named(name, value, depth)] as const);
    return Object.fromEntries(shown);
  }

  private named(name: string, value: unknown, depth: number): unknown {
    // A count or a flag of that name is no secret: `isToken: true`.
    const isText = typeof value === 'string' || (typeof value === 'object' && value !== null);
    return isText && isSecretName(name) ? HIDDEN : this.plain(value, depth + 1);
  }

  private plain(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'bigint') return value.toString();
    if (typeof value !== 'object' || value === null) return value;
    if (depth > MAX_DEPTH) return '…';
    if (ArrayBuffer.isView(value)) return `<${value.byteLength} bytes>`;
    if (value instanceof Error) return this.error(value, depth);
    if (value instanceof Date) return value.toISOString();
    if (value instanceof Set || value instanceof Map) return this.plain([...value], depth);
    if (Array.isArray(value)) return value.map((item) => this.plain(item, depth + 1));
    return this.entries(Object.entries(value), depth);
  }

  private error(error: Error, depth: number): Record<string, unknown> {
    const { name, message, stack, cause } = error;
    return {
      name,
      message: this.text(message),
      ...this.entries(Object.entries(error), depth),
      stack: stack === undefined ? undefined : this.text(stack),
      ...(cause === undefined ? {} : { cause: this.plain(cause, depth + 1) }),
    };
  }
}
