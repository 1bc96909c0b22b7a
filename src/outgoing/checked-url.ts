import { OutgoingError } from './outgoing-error.js';

const MAX_URL_LENGTH = 8192;

/**
 * Parses a URL that a caller sent, without its fragment.
 * @throws OutgoingError `bad_url`: not a URL, not http or https, with user name or password, or beyond 8192 characters
 */
export function checkedUrl(text: string, base?: URL): URL {
  if (text.length > MAX_URL_LENGTH) throw OutgoingError.badUrl(`a URL has at most ${MAX_URL_LENGTH} characters`);
  if (!URL.canParse(text, base?.href)) throw OutgoingError.badUrl('not a URL; accepted are http:// and https:// URLs');
  const url = new URL(text, base?.href);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw OutgoingError.badUrl(`a URL begins with http:// or https://, got ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw OutgoingError.badUrl('a URL holds no user name and no password');
  }
  url.hash = '';
  return url;
}

/** The URL without its query, which may hold a signature: what may be stored and shown. */
export function withoutQuery(url: URL): string {
  const shown = new URL(url);
  shown.search = '';
  return shown.href;
}
