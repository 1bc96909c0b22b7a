import fc from 'fast-check';
import { canonicalHash } from '../../src/common/canonical-hash.js';
import { propertyRuns } from '../support/property-runs.js';

const runs = { numRuns: propertyRuns(2000) };

/** The same value with the keys of every object in another order. */
function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, shuffled(item)]),
  );
}

describe('canonicalHash', () => {
  it('is the same for the same body, whatever the order of its keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalHash(shuffled(value))).toBe(canonicalHash(value));
        expect(canonicalHash(JSON.parse(JSON.stringify(value)))).toBe(canonicalHash(value));
      }),
      runs,
    );
  });

  it('is another for any other body', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        const isSame = JSON.stringify(shuffledSort(one)) === JSON.stringify(shuffledSort(other));
        expect(canonicalHash(one) === canonicalHash(other)).toBe(isSame);
      }),
      runs,
    );
  });

  it('sees a change anywhere', () => {
    const change = fc.tuple(fc.string(), fc.jsonValue(), fc.string());
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), change, (body, [key, value, more]) => {
        const changed = { ...body, [key]: [value, more] };
        fc.pre(JSON.stringify(shuffledSort(changed)) !== JSON.stringify(shuffledSort(body)));
        expect(canonicalHash({ deep: [changed] })).not.toBe(canonicalHash({ deep: [body] }));
      }),
      runs,
    );
  });

  it.each<[string, unknown, unknown]>([
    ['absent and undefined are the same', { a: 1, b: undefined }, { a: 1 }],
    ['bytes count by what they are', { a: new Uint8Array([1, 2]) }, { a: Buffer.from([1, 2]) }],
  ])('%s', (_what, one, other) => {
    expect(canonicalHash(one)).toBe(canonicalHash(other));
  });

  it.each<[string, unknown, unknown]>([
    ['null and absent', { a: null }, {}],
    ['a number and its text', { a: 1 }, { a: '1' }],
    ['the order of a list', [1, 2], [2, 1]],
    ['an empty list and an empty object', [], {}],
    ['a key and a value', { a: 'b' }, { b: 'a' }],
    ['other bytes', { a: new Uint8Array([1, 2]) }, { a: new Uint8Array([1, 3]) }],
  ])('%s are not the same', (_what, one, other) => {
    expect(canonicalHash(one)).not.toBe(canonicalHash(other));
  });
});

function shuffledSort(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffledSort);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .map(([key, item]) => [key, shuffledSort(item)])
    .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))
    .concat([['{}', null]]);
}
