import { readFileSync } from 'node:fs';
import { EVENT_TYPES } from '../support/event-types.js';

describe('docs/events.md', () => {
  it('has exactly one row for each event type', () => {
    const rows = [...readFileSync('docs/events.md', 'utf8').matchAll(/^\| `([a-z_]+)` +\|/gm)].map((row) => row[1]);
    expect(rows.toSorted()).toEqual(EVENT_TYPES.toSorted());
  });
});
