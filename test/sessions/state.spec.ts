import fc from 'fast-check';
import type { JsonObject } from '../../src/common/json.js';
import { mergedState, scopedDelta, stateOf, withoutTemp } from '../../src/sessions/state.js';
import { propertyRuns } from '../support/property-runs.js';

const key = fc
  .tuple(fc.constantFrom('', 'app:', 'user:', 'temp:', 'App:', 'app', 'app:user:'), fc.string({ maxLength: 4 }))
  .map(([prefix, name]) => prefix + name);
const delta = fc
  .array(fc.tuple(key, fc.jsonValue({ maxDepth: 1 })))
  .map((entries) => Object.fromEntries(entries) as unknown as JsonObject);

describe('scoped state', () => {
  it('comes back from its three places as it was, without what is temporary', () => {
    fc.assert(
      fc.property(delta, (given) => {
        const { session, app, user } = scopedDelta(given);
        expect(mergedState(session, app, user)).toEqual(withoutTemp(given));
        expect(Object.keys(session).some((name) => /^(app|user|temp):/.test(name))).toBe(false);
        expect(Object.keys(withoutTemp(given))).toEqual(Object.keys(given).filter((name) => !name.startsWith('temp:')));
      }),
      { numRuns: propertyRuns(2000) },
    );
  });

  it('cuts only the first prefix', () => {
    expect(scopedDelta({ 'app:user:a': 1, 'user:app:b': 2, 'App:c': 3, app: 4 })).toEqual({
      app: { 'user:a': 1 },
      user: { 'app:b': 2 },
      session: { 'App:c': 3, app: 4 },
    });
  });

  it('keeps a key of any name', () => {
    const given = JSON.parse('{"__proto__":{"a":1},"app:__proto__":2,"constructor":3}') as JsonObject;
    const { session, app } = scopedDelta(given);
    expect([Object.entries(session), Object.entries(app)]).toEqual([
      [
        ['__proto__', { a: 1 }],
        ['constructor', 3],
      ],
      [['__proto__', 2]],
    ]);
  });

  it('takes no stored column for a state that is none', () => {
    expect([stateOf({ a: 1 }), stateOf(null), stateOf([1]), stateOf('x')]).toEqual([{ a: 1 }, {}, {}, {}]);
  });
});
