import { AppError } from '../../common/app-error.js';
import { checkId } from '../../common/id-rules.js';
import type { Encoding } from './sse-frames.js';

/** A query string as the router reads it: a repeated name is a list. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

const MAX_PAGE_TOKEN = 1024;

/**
 * One value of the query, or undefined.
 * @throws AppError `INVALID_BODY` when the name is repeated
 */
export function textFrom(query: Query, name: string): string | undefined {
  const value = query[name];
  if (value !== undefined && typeof value !== 'string') throw new AppError('INVALID_BODY', `${name} is given twice`);
  return value;
}

/** @throws AppError `INVALID_BODY` unless the value is absent or a whole number of the range */
export function wholeNumberFrom(
  query: Query,
  name: string,
  range: { min: number; max: number; absent: number },
): number {
  const text = textFrom(query, name);
  if (text === undefined) return range.absent;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= range.min && value <= range.max) return value;
  throw new AppError('INVALID_BODY', `${name} must be a whole number from ${range.min} to ${range.max}`);
}

/** @throws AppError `CURSOR_INVALID` unless the text is the decimal id of an event, or 0 */
function toCursor(text: string, name: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new AppError('CURSOR_INVALID', `${name} must be the id of an event, a whole number from 0`);
}

/** The id of the last event already seen; 0 when the query has none. */
export function cursorFrom(query: Query): number {
  const text = textFrom(query, 'cursor');
  return text === undefined ? 0 : toCursor(text, 'cursor');
}

/** The larger of a cursor and `Last-Event-ID`: a browser repeats its first URL and adds the newer header. */
export function laterCursor(cursor: number, lastEventId: string | string[] | undefined): number {
  if (lastEventId === undefined || lastEventId === '') return cursor;
  return Math.max(cursor, toCursor(String(lastEventId), 'Last-Event-ID'));
}

/** @throws AppError `INVALID_BODY` for an encoding other than `flat` and `envelope` */
export function encodingFrom(query: Query, absent: Encoding): Encoding {
  const value = textFrom(query, 'encoding') ?? absent;
  if (value === 'flat' || value === 'envelope') return value;
  throw new AppError('INVALID_BODY', 'encoding must be flat or envelope');
}

/** The page of a run that a poll asks for. */
export function pageFrom(query: Query): { cursor: number; limit: number; waitMs: number } {
  return {
    cursor: cursorFrom(query),
    limit: wholeNumberFrom(query, 'limit', { min: 1, max: 500, absent: 100 }),
    waitMs: wholeNumberFrom(query, 'wait_ms', { min: 0, max: 25_000, absent: 0 }),
  };
}

/** The part of a snapshot that is asked for. */
export function snapshotFrom(query: Query): { runs: number; before?: string; events: boolean } {
  const before = textFrom(query, 'before');
  if (before !== undefined) checkId('session', 'before', before);
  return {
    runs: wholeNumberFrom(query, 'runs', { min: 1, max: 200, absent: 20 }),
    events: wholeNumberFrom(query, 'events', { min: 0, max: 1, absent: 1 }) === 1,
    ...(before !== undefined && { before }),
  };
}

/** The page of the session list that is asked for. */
export function sessionListFrom(query: Query): { clientReference?: string; pageToken?: string; limit: number } {
  const clientReference = textFrom(query, 'client_reference');
  const pageToken = textFrom(query, 'page_token');
  if (pageToken !== undefined && pageToken.length > MAX_PAGE_TOKEN) {
    throw new AppError('CURSOR_INVALID', 'page_token must be one that a list gave');
  }
  return {
    limit: wholeNumberFrom(query, 'limit', { min: 1, max: 200, absent: 20 }),
    ...(clientReference !== undefined && { clientReference }),
    ...(pageToken !== undefined && { pageToken }),
  };
}
