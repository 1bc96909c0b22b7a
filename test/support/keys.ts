import { createHash } from 'node:crypto';

/** A key of mode `key` and whom it belongs to. */
export interface TestKey {
  readonly key: string;
  readonly tenant: string;
  readonly user: string;
}

/** The variables of a server that knows these keys. */
export function keyEnv(keys: readonly TestKey[]): Record<string, string> {
  const entries = keys.map(({ key, tenant, user }, index) => {
    const digest = createHash('sha256').update(key).digest('hex');
    return `key-${index}:${digest}:${tenant}:${user}`;
  });
  return { BRIDLE_AUTH_MODE: 'key', BRIDLE_AUTH_KEYS: entries.join(',') };
}

/** The header that shows a key. */
export const bearer = (key: string): { authorization: string } => ({ authorization: `Bearer ${key}` });
