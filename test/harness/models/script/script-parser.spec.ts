import fc from 'fast-check';
import type { JsonObject } from '../../../../src/common/json.js';
import { parseScript, testToolNamesIn } from '../../../../src/harness/models/script/script-parser.js';

const numRuns = process.env['BRIDLE_TEST_FULL'] ? 1000 : 100;
const steps = (script: string) => parseScript(script, { testSteps: true });
const quote = (text: string): string => text.replaceAll(';', '\\;');

describe('parseScript', () => {
  it.each([
    ['say:a', [{ kind: 'say', text: 'a' }]],
    [
      'think:hm;say:a',
      [
        { kind: 'think', text: 'hm' },
        { kind: 'say', text: 'a' },
      ],
    ],
    ['stream:10000:0', [{ kind: 'stream', count: 10000, ms: 0 }]],
    ['tool:slow:3000', [{ kind: 'tools', calls: [{ name: 'slow', ms: 3000 }] }]],
    [
      'tools:ro_a:10,b:20',
      [
        {
          kind: 'tools',
          calls: [
            { name: 'ro_a', ms: 10 },
            { name: 'b', ms: 20 },
          ],
        },
      ],
    ],
    ['block:long:5000', [{ kind: 'block', call: { name: 'long', ms: 5000 } }]],
    ['call:now', [{ kind: 'call', name: 'now', args: {} }]],
    ['call:now:{"time_zone":"Europe/Oslo"}', [{ kind: 'call', name: 'now', args: { time_zone: 'Europe/Oslo' } }]],
    [
      'call:x:{"a":"b;c"};say:d',
      [
        { kind: 'call', name: 'x', args: { a: 'b;c' } },
        { kind: 'say', text: 'd' },
      ],
    ],
    [
      'call:x:{"a":1} ; say:d',
      [
        { kind: 'call', name: 'x', args: { a: 1 } },
        { kind: 'say', text: 'd' },
      ],
    ],
    [
      'call:x:{"a":;say:d',
      [
        { kind: 'call', name: 'x', args: '{"a":' },
        { kind: 'say', text: 'd' },
      ],
    ],
    ['usage:12:3', [{ kind: 'usage', promptTokens: 12, completionTokens: 3 }]],
    ['echo', [{ kind: 'echo' }]],
    ['fail:429', [{ kind: 'fail', code: '429' }]],
    ['ask:q1:a,b', [{ kind: 'fail', code: 'not_available' }]],
    ['askm:q1:a,b+askt:q2', [{ kind: 'fail', code: 'not_available' }]],
    ['asko:q1', [{ kind: 'fail', code: 'not_available' }]],
    ['say:a;throw', [{ kind: 'say', text: 'a' }, { kind: 'throw' }]],
    ['crash', [{ kind: 'crash' }]],
    ['hello', [{ kind: 'say', text: 'hello' }]],
    [
      'say:a\\;b;say:c',
      [
        { kind: 'say', text: 'a;b' },
        { kind: 'say', text: 'c' },
      ],
    ],
    ['say:a;;', [{ kind: 'say', text: 'a' }]],
    ['', []],
  ])('reads %s', (script, expected) => {
    expect(steps(script)).toEqual(expected);
  });

  it.each([
    'stream:x:1',
    'tool:slow',
    'tool:sl ow:3',
    'tools:a:1,b',
    'usage:1',
    'fail:',
    'toString:x',
    'Say:a',
    'echo!',
  ])('takes %s as plain text', (text) => {
    expect(steps(text)).toEqual([{ kind: 'say', text }]);
  });

  it.each(['throw', 'crash', 'tool:slow:3000', 'tools:a:1,b:2', 'block:long:5'])(
    'takes %s as plain text where the test steps are switched off',
    (text) => {
      expect(parseScript(text, { testSteps: false })).toEqual([{ kind: 'say', text }]);
    },
  );

  it('gives a text without any step back whole', () => {
    const plain = fc
      .string({ unit: 'binary' })
      .filter((text) => !/[:\\]|echo|throw|crash/.test(text) && text.replaceAll(';', '').trim() !== '');
    fc.assert(
      fc.property(plain, (text) => expect(steps(text)).toEqual([{ kind: 'say', text }])),
      { numRuns },
    );
  });

  it('reads every quoted text as it was', () => {
    const texts = fc.array(
      fc.string({ unit: 'binary' }).filter((text) => !text.endsWith('\\')),
      { minLength: 1, maxLength: 5 },
    );
    fc.assert(
      fc.property(texts, (said) => {
        const script = said.map((text) => `say:${quote(text)}`).join(';');
        expect(steps(script)).toEqual(said.map((text) => ({ kind: 'say', text })));
      }),
      { numRuns },
    );
  });

  it('reads the JSON of a call, its semicolons quoted or not', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }),
        fc.boolean(),
        (value, quoted) => {
          // A backslash before a bare semicolon would quote it: such JSON has to be quoted.
          const json = JSON.stringify(value);
          const written = quoted || json.includes('\\;') ? quote(json) : json;
          expect(steps(`call:x:${written};say:after`)).toEqual([
            { kind: 'call', name: 'x', args: JSON.parse(json) as JsonObject },
            { kind: 'say', text: 'after' },
          ]);
        },
      ),
      { numRuns },
    );
  });

  it('names each test tool of a script once', () => {
    expect(testToolNamesIn('tool:slow:1;say:x;tools:a:1,slow:2;block:b:3;call:now')).toEqual(['slow', 'a', 'b']);
  });
});
