import { retryAfterMs } from '../../../../src/harness/models/provider/retry-after.js';

const NOW = Date.parse('2026-01-01T00:00:00Z');

it.each([
  ['seconds', { 'retry-after': '2' }, '', 2000],
  ['parts of a second', { 'retry-after': '0.25' }, '', 250],
  ['milliseconds before seconds', { 'retry-after-ms': '150', 'retry-after': '9' }, '', 150],
  ['a date', { 'retry-after': 'Thu, 01 Jan 2026 00:00:10 GMT' }, '', 10_000],
  ['a date in the past', { 'retry-after': 'Wed, 31 Dec 2025 23:59:00 GMT' }, '', 0],
  ['a negative number', { 'retry-after': '-5' }, '', 0],
  ['an absurd number', { 'retry-after': '99999999999999' }, '', 86_400_000],
  ['a wait in the body', {}, '{"error":{"details":[{"retryDelay":"34.07s"}]}}', 34_070],
  ['a header before the body', { 'retry-after': '1' }, '{"retryDelay": "34s"}', 1000],
  ['words', { 'retry-after': 'soon' }, '', undefined],
  ['an empty text', { 'retry-after': '' }, '', undefined],
  ['two values', { 'retry-after': ['1', '2'] }, '', undefined],
  ['nothing', {}, '{"error":{}}', undefined],
])('reads %s', (_name, headers, body, ms) => {
  expect(retryAfterMs(headers, body, NOW)).toBe(ms);
});
