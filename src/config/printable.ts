import type { Config } from './config.js';
import { HIDDEN } from './secret-names.js';
import { LEAVES } from './settings.js';

/** The configuration for people: nested sections as they are, secrets hidden. */
export function printable(config: Config): Record<string, unknown> {
  return hide(config, '') as Record<string, unknown>;
}

function hide(value: unknown, key: string): unknown {
  const leaf = LEAVES.get(key);
  if (leaf === undefined && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const entries = Object.entries(value).map(([name, part]) => [
      name,
      hide(part, key === '' ? name : `${key}.${name}`),
    ]);
    return Object.fromEntries(entries) as unknown;
  }
  if (value === undefined) return null;
  switch (leaf?.secret) {
    case 'value':
      return HIDDEN;
    case 'part':
      return withoutPassword(value as string);
    case 'digest':
      return (value as Config['auth']['keys']).map(({ sha256: _, ...entry }) => ({ ...entry, sha256: HIDDEN }));
    default:
      return value;
  }
}

/** A URL without the password that it may hold. */
export function withoutPassword(url: string): string {
  return url.replace(/^([a-z]+:\/\/[^/@]*?:)[^/]*@/, `$1${HIDDEN}@`);
}

/** The secret texts themselves, for a logger that must never print one. */
export function secretsOf(config: Config): readonly string[] {
  const secrets = config.model.apiKey === undefined ? [] : [config.model.apiKey];
  for (const url of [config.database.url, config.proxy.httpUrl, config.proxy.httpsUrl]) {
    if (url === undefined || !URL.canParse(url)) continue;
    const { password } = new URL(url);
    if (password !== '') secrets.push(password, decodeURIComponent(password));
  }
  return [...new Set(secrets)];
}
