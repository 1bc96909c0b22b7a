import fc from 'fast-check';
import { editDistance, nearest, variableOf } from '../../src/config/key-names.js';
import { LEAVES } from '../../src/config/settings.js';
import { propertyRuns } from '../support/property-runs.js';

const KEYS = [...LEAVES.keys()];

describe('variableOf', () => {
  it.each([
    ['runs.leaseMs', 'BRIDLE_RUNS_LEASE_MS'],
    ['onDisconnect.v1', 'BRIDLE_ON_DISCONNECT_V1'],
    ['harness.scriptModel.effectsFile', 'BRIDLE_HARNESS_SCRIPT_MODEL_EFFECTS_FILE'],
  ])('%s is %s', (key, variable) => {
    expect(variableOf(key)).toBe(variable);
  });

  it('gives every key a variable of its own', () => {
    expect(new Set(KEYS.map(variableOf)).size).toBe(KEYS.length);
  });

  it('loses nothing: the words of the key can be read back', () => {
    const word = fc.stringMatching(/^[a-z][a-z0-9]{0,6}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
        const camel = words
          .map((text, index) => (index === 0 ? text : text[0]?.toUpperCase() + text.slice(1)))
          .join('');
        expect(variableOf(`section.${camel}`)).toBe(
          ['BRIDLE', 'SECTION', ...words.map((w) => w.toUpperCase())].join('_'),
        );
      }),
      { numRuns: propertyRuns(1000) },
    );
  });
});

describe('editDistance', () => {
  it('counts changes, insertions, deletions and swaps', () => {
    expect([
      editDistance('lease', 'leash'),
      editDistance('lease', 'leases'),
      editDistance('lease', 'ease'),
      editDistance('lease', 'laese'),
      editDistance('', 'abc'),
    ]).toEqual([1, 1, 1, 1, 3]);
  });

  it('is zero for equal texts only, symmetric, and at most the longer length', () => {
    const text = fc.string({ maxLength: 12 });
    fc.assert(
      fc.property(text, text, (from, to) => {
        const distance = editDistance(from, to);
        expect(distance === 0).toBe(from === to);
        expect(distance).toBe(editDistance(to, from));
        expect(distance).toBeLessThanOrEqual(Math.max(from.length, to.length));
      }),
      { numRuns: propertyRuns(1000) },
    );
  });
});

describe('nearest', () => {
  it.each([
    ['runs.leaseMS', 'runs.leaseMs'],
    ['run.lease_ms', 'runs.leaseMs'],
    ['server.httport', 'server.httpPort'],
    ['vision.maxPixel', 'vision.maxPixels'],
  ])('of %s is %s', (typo, key) => {
    expect(nearest(typo, KEYS)).toBe(key);
  });

  it('finds every key again after one slip of a finger', () => {
    const slip = fc.record({ key: fc.constantFrom(...KEYS), at: fc.nat(), letter: fc.constantFrom('q', 'z', '7') });
    fc.assert(
      fc.property(slip, ({ key, at, letter }) => {
        const index = at % (key.length + 1);
        const found = nearest(key.slice(0, index) + letter + key.slice(index), KEYS) ?? '';
        expect(editDistance(found, key)).toBeLessThanOrEqual(2);
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  it('has nothing to offer without candidates', () => {
    expect(nearest('x', [])).toBeUndefined();
  });
});
