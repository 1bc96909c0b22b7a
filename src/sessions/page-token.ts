import { AppError } from '../common/app-error.js';

/** An opaque place in a list that is sorted by id, newest first. */
export function toPageToken(lastId: string): string {
  return Buffer.from(`v1:${lastId}`).toString('base64url');
}

/** @throws AppError `CURSOR_INVALID` for a token that no list gave */
export function fromPageToken(token: string): string {
  const text = Buffer.from(token, 'base64url').toString('utf8');
  if (!/^v1:[0-9a-f-]{36}$/.test(text)) {
    throw new AppError('CURSOR_INVALID', 'page_token must be one that the list returned');
  }
  return text.slice('v1:'.length);
}
