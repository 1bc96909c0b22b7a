import { z } from 'zod';
import { count, leaf, millis, oneOf, text } from '../leaf.js';

export const storage = z.strictObject({ dir: text('the path of a folder') });

/** `sqlite:<path>`, `sqlite::memory:` or `mysql://user:pass@host[:port]/database`. */
function isDatabaseUrl(url: string): boolean {
  if (url.startsWith('sqlite:')) return url.length > 'sqlite:'.length;
  if (!url.startsWith('mysql://') || !URL.canParse(url)) return false;
  const { hostname, pathname } = new URL(url);
  return hostname !== '' && /^\/[^/]+$/.test(pathname);
}

const DATABASE_URLS = 'sqlite:<path>, sqlite::memory: or mysql://user:password@host/database';

export const database = z.strictObject({
  url: leaf(z.string().refine(isDatabaseUrl), { accepts: DATABASE_URLS, secret: 'part' }),
  synchronous: oneOf(['full', 'normal']),
  poolSize: count('connections', 1, 1000),
  timeoutMs: millis(100),
});
