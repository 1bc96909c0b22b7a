import { z } from 'zod';
import { list, optionalText } from '../leaf.js';

/** True for `http://[user:password@]host[:port]`, also with https. */
function isProxyUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === '' && url.hash === '';
}

const PROXY = 'http://host:port or https://host:port, with user:password@ before the host if it wants them';

export const proxy = z.strictObject({
  httpUrl: optionalText(PROXY, { fits: isProxyUrl, secret: 'part' }),
  httpsUrl: optionalText(PROXY, { fits: isProxyUrl, secret: 'part' }),
  bypass: list('a list of hosts, each "host", ".domain", "host:port" or "*"', (entry) => /^\S+$/.test(entry)),
});
