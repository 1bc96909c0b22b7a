import fc from 'fast-check';
import { cutMiddle } from '../../../src/harness/engine/tool-output.js';
import { argumentFaults } from '../../../src/harness/engine/tool-arguments.js';
import { retryDelayMs } from '../../../src/harness/engine/retry-delay.js';
import { toWellFormedJson, WellFormedText } from '../../../src/harness/engine/well-formed.js';
import { failWith } from '../../support/scripted-chat-model.js';

const runs = process.env.BRIDLE_TEST_FULL === undefined ? 50 : 500;

describe('WellFormedText', () => {
  it('gives the same text, however it was cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.array(fc.nat(20)), (text, cuts) => {
        const whole = new WellFormedText();
        let shown = '';
        let rest = text;
        for (const cut of cuts) {
          shown += whole.push(rest.slice(0, cut));
          expect(shown.isWellFormed()).toBe(true);
          rest = rest.slice(cut);
        }
        expect(shown + whole.push(rest) + whole.flush()).toBe(text);
      }),
      { numRuns: runs },
    );
  });

  it('replaces what has no other half', () => {
    const text = new WellFormedText();
    expect([text.push('\ude00a\ud83d'), text.push('b'), text.push('\ud83d'), text.flush(), text.flush()]).toEqual([
      ...['\ufffda', '\ufffdb', '', '\ufffd', ''],
    ]);
  });
});

describe('toWellFormedJson', () => {
  it('leaves good JSON as it is', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        expect(toWellFormedJson(value as never)).toEqual(value);
      }),
      { numRuns: runs },
    );
  });
});

describe('retryDelayMs', () => {
  const limits = { modelAttempts: 10, retryBaseMs: 1000 };
  const { failure } = failWith('http', { status: 500 });

  it('is full jitter under a ceiling that doubles up to 30 seconds', () => {
    expect([1, 2, 3, 6, 9].map((n) => retryDelayMs(failure, n, limits, () => 1))).toEqual([
      1000, 2000, 4000, 30_000, 30_000,
    ]);
    expect(retryDelayMs(failure, 3, limits, () => 0)).toBe(0);
    expect(retryDelayMs(failure, 3, limits, () => 0.5)).toBe(2000);
  });

  it('is never shorter than the provider asked for', () => {
    const busy = failWith('http', { status: 429, retryAfterMs: 7000 }).failure;
    expect(retryDelayMs(busy, 1, limits, () => 0.1)).toBe(7000);
  });

  it('is none after the last attempt, for hopeless errors and for providers that ask for too much patience', () => {
    expect(retryDelayMs(failure, 10, limits)).toBeUndefined();
    expect(retryDelayMs(failWith('http', { status: 400, retryable: false }).failure, 1, limits)).toBeUndefined();
    expect(retryDelayMs(failWith('http', { retryAfterMs: 60_001 }).failure, 1, limits)).toBeUndefined();
  });
});

describe('cutMiddle', () => {
  it('keeps short texts, and both ends of long ones', () => {
    expect(cutMiddle('abcde', 5)).toBe('abcde');
    expect(cutMiddle('abcdefgh', 5)).toBe('abc\n… 3 characters cut …\ngh');
  });

  it('never leaves half an emoji', () => {
    expect(cutMiddle('😀😀😀', 3).isWellFormed()).toBe(true);
  });
});

describe('argumentFaults', () => {
  it('compiles a schema once', () => {
    const schema = { type: 'object', properties: { a: { type: 'string', format: 'date' } } };
    expect(argumentFaults(schema, { a: '2026-11-29' })).toEqual([]);
    expect(argumentFaults(schema, { a: 'today' })).toEqual(['/a must match format "date"']);
  });

  it('takes schemas of any draft, and two with one $id', () => {
    const make = (type: string) => ({
      $schema: 'http://json-schema.org/draft-07/schema#',
      $id: 'https://example.com/x',
      type: 'object',
      properties: { a: { type } },
    });
    expect(argumentFaults(make('string'), { a: 'x' })).toEqual([]);
    expect(argumentFaults(make('integer'), { a: 'x' })).toEqual(['/a must be integer']);
  });

  it('tells at most ten faults, and what is allowed', () => {
    const required = Array.from({ length: 30 }, (_, index) => `f${index}`);
    expect(argumentFaults({ type: 'object', required }, {})).toHaveLength(10);
    expect(argumentFaults({ properties: { a: { enum: ['x', 'y'] } } }, { a: 'z' })).toEqual([
      '/a must be equal to one of the allowed values (["x","y"])',
    ]);
  });
});
