import type { Json } from '../../common/json.js';
import { valueError, type Fault } from './validation/issue.js';
import { list, ruled, text } from './validation/kinds.js';

const MAX_SERVERS = 16;
const MAX_ENDPOINT = 2048;
const MAX_KEY = 4096;
const CONTROL = /\p{Cc}/u;

/** The servers of one call. */
export const servers = ruled(list, (value: Json): Fault | undefined =>
  (value as readonly Json[]).length > MAX_SERVERS
    ? valueError(`mcp_servers must not hold more than ${MAX_SERVERS} servers`)
    : undefined,
);

/** An absolute http or https URL without user info, fragment and control characters. */
export const endpoint = ruled(text, (value: Json): Fault | undefined => {
  const given = value as string;
  if (CONTROL.test(given)) return valueError('endpoint must not contain control characters');
  if (!/^https?:\/\//i.test(given) || !URL.canParse(given)) return valueError('endpoint must be an HTTP(S) URL');
  const url = new URL(given);
  if (url.username !== '' || url.password !== '') return valueError('endpoint must not contain credentials');
  if (given.includes('#')) return valueError('endpoint must not contain a fragment');
  if (given.length > MAX_ENDPOINT) return valueError(`endpoint must not be longer than ${MAX_ENDPOINT} characters`);
  return undefined;
});

/** A key that can be sent in a header. */
export const secretLine = ruled(text, (value: Json): Fault | undefined => {
  const given = value as string;
  if (/[\r\n]/.test(given)) return valueError('api_key must not contain line breaks');
  if (given.length > MAX_KEY) return valueError(`api_key must not be longer than ${MAX_KEY} characters`);
  return undefined;
});
