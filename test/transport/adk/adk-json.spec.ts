import { jest } from '@jest/globals';
import { readAdkBody } from '../../../src/transport/adk/adk-json.js';
import { AdkRefusal } from '../../../src/transport/adk/adk-refusal.js';
import { propertyRuns } from '../../support/property-runs.js';
import { Random } from '../../support/random.js';
import { JsonScan, JsonTooLarge } from '../../../src/transport/adk/json-scan.js';

const JSON_TYPE = 'application/json';
const LIMITS = { maxDepth: 64, maxKeys: 100 };
const read = (text: string, type: string | undefined = JSON_TYPE) => readAdkBody(Buffer.from(text), type, LIMITS);

function failureOf(work: () => unknown): AdkRefusal['failure'] {
  try {
    work();
  } catch (error) {
    if (error instanceof AdkRefusal) return error.failure;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('JsonScan', () => {
  it.each([
    ['', 'Expecting value', 0],
    ['   ', 'Expecting value', 3],
    ['{"a":', 'Expecting value', 5],
    ['{"a" 1}', "Expecting ':' delimiter", 5],
    ['{"a":1 "b":2}', "Expecting ',' delimiter", 7],
    ['{"a":1,}', 'Expecting property name enclosed in double quotes', 7],
    ["{'a':1}", 'Expecting property name enclosed in double quotes', 1],
    ['{', 'Expecting property name enclosed in double quotes', 1],
    ['[1 2]', "Expecting ',' delimiter", 3],
    ['[1,]', 'Expecting value', 3],
    ['[', 'Expecting value', 1],
    ['{} {}', 'Extra data', 3],
    ['01', 'Extra data', 1],
    ['1.', 'Extra data', 1],
    ['-', 'Expecting value', 0],
    ['nul', 'Expecting value', 0],
    ['[[1,2],{"a":[{}]} 3]', "Expecting ',' delimiter", 18],
    ['[[],[{"a":{}}]]]', 'Extra data', 15],
    ['[{"a":[1}]', "Expecting ',' delimiter", 8],
    ['{"n":NaN}', 'Expecting value', 5],
    ['[-Infinity]', 'Expecting value', 1],
    ['"ab', 'Unterminated string starting at', 0],
    ['{"a":"b\\', 'Unterminated string starting at', 5],
    ['"a\nb"', 'Invalid control character at', 2],
    ['"\\x"', 'Invalid \\escape', 1],
    ['"\\u12"', 'Invalid \\uXXXX escape', 2],
    ['"\\u12zz"', 'Invalid \\uXXXX escape', 2],
    // Characters, not UTF-16 units: each smiley counts once.
    ['["😀😀", nope]', 'Expecting value', 7],
  ])('%j: %s at %i', (text, message, offset) => {
    expect(new JsonScan(text, LIMITS).run()).toEqual({ message, offset });
  });

  it.each(['{}', ' [1, -2.5e+3, "\\ud83d\\ude00", null, true, {"a": []}] ', '"x"'])('finds none in %s', (text) => {
    expect(new JsonScan(text, LIMITS).run()).toBeUndefined();
  });
});

describe('JsonScan of random texts', () => {
  const seeds = [
    '{"a":[1,-2.5e+3,"\\ud83d\\ude00\\n",null,true,{"b":[]}],"c":{}}',
    ' [ [ ], { } , "é😀" , 0.1 ] ',
    '"q"',
  ];
  const pieces = [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    'u',
    '0',
    '1',
    '-',
    '.',
    'e',
    ' ',
    '\n',
    'null',
    'é',
    '\u0001',
  ];

  it('finds a fault exactly where JSON.parse does', () => {
    const random = new Random(7);
    const isJson = (text: string): boolean => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    let good = 0;
    for (let run = 0; run < propertyRuns(20_000); run += 1) {
      let text = seeds[random.below(seeds.length)]!;
      for (let edits = random.below(4); edits >= 0; edits -= 1) {
        const at = random.below(text.length + 1);
        const piece = random.chance(0.5) ? pieces[random.below(pieces.length)]! : '';
        text = text.slice(0, at) + piece + text.slice(at + random.below(3));
      }
      const isGood = isJson(text);
      expect([text, new JsonScan(text, LIMITS).run() === undefined]).toEqual([text, isGood]);
      if (isGood) good += 1;
    }
    expect(good).toBeGreaterThan(10);
  });
});

describe('JsonScan of a large text', () => {
  const MANY = 3_000_000;
  const limits = { maxDepth: 64, maxKeys: 1000 };
  const picture = `{"parts":[{"text":"hi"},{"inlineData":{"data":"${'A'.repeat(MANY)}"}}]}`;

  /** The steps of one scan, and whether a limit ended it. */
  function scan(text: string): { steps: number; isTooLarge: boolean } {
    const scanned = new JsonScan(text, limits);
    try {
      scanned.run();
      return { steps: scanned.steps, isTooLarge: false };
    } catch (error) {
      expect(error).toBeInstanceOf(JsonTooLarge);
      return { steps: scanned.steps, isTooLarge: true };
    }
  }

  it.each([
    ['levels that nobody closes', '['.repeat(MANY), 65],
    ['levels of objects', '{"a":'.repeat(MANY / 5), 129],
    ['levels that are closed', '['.repeat(MANY) + ']'.repeat(MANY), 65],
    ['items that nobody closes', `[${'1,'.repeat(MANY / 2)}`, 1001],
    ['items of many arrays', `[${'[],'.repeat(MANY / 3)}[]]`, 1001],
    ['items of nested arrays', `[${'[1,1,1],'.repeat(MANY / 8)}[]]`, 1001],
    ['keys', `{${'"a":1,'.repeat(MANY / 6)}"a":1}`, 2002],
  ])('stops at its limits, so the length of the text costs nothing: %s', (_, text, steps) => {
    expect(scan(text)).toEqual({ steps, isTooLarge: true });
  });

  it.each([
    ['one long text', `"${'a'.repeat(MANY)}"`, 1],
    ['a long text without an end', `"${'a'.repeat(MANY)}`, 1],
    ['a text of escapes without an end', `"${'\\n'.repeat(MANY / 2)}`, 1],
    ['one long number', '9'.repeat(MANY), 1],
    ['nothing but blanks', ' '.repeat(MANY), 1],
    ['a picture', picture, 11],
  ])('takes one step a value or key, however long: %s', (_, text, steps) => {
    expect(scan(text)).toEqual({ steps, isTooLarge: false });
  });
});

describe('readAdkBody', () => {
  const unreadable = { status: 400, body: { detail: 'There was an error parsing the body' } };

  it('reads JSON with a byte order mark, of any JSON type, and without a type', () => {
    const value = { kind: 'json', value: { a: 1 } };
    expect(read('\ufeff{"a":1}')).toEqual(value);
    expect(read('{"a":1}', 'APPLICATION/JSON; charset=utf-8')).toEqual(value);
    expect(read('{"a":1}', 'application/vnd.x+json')).toEqual(value);
    expect(readAdkBody(Buffer.from('{"a":1}'), undefined, LIMITS)).toEqual(value);
  });

  it('leaves other types a text', () => {
    expect(read('{"a":1}', 'text/plain')).toEqual({ kind: 'text', text: '{"a":1}' });
    expect(read('a=1', 'application/x-www-form-urlencoded')).toEqual({ kind: 'text', text: 'a=1' });
  });

  it('takes null for nothing', () => {
    expect(read('null')).toEqual({ kind: 'missing' });
    expect(read('')).toEqual({ kind: 'missing' });
  });

  it.each([
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['nesting of 65 levels', Buffer.from('['.repeat(65) + ']'.repeat(65))],
    ['nesting that no stack holds', Buffer.from('['.repeat(200_000))],
    ['a fault behind too many levels', Buffer.from(`${'['.repeat(65)} nope`)],
    ['more items than the limit', Buffer.from(`[${'1,'.repeat(100)}1]`)],
    ['more keys than the limit', Buffer.from(`[${Array.from({ length: 101 }, () => '{"k":1}').join()}]`)],
    ['a number beyond a double', Buffer.from('{"a":1e400}')],
    ['an integer beyond a double', Buffer.from(`[${'9'.repeat(5000)}]`)],
    ['half of a surrogate pair', Buffer.from('{"a":"\\ud800"}')],
    ['half of a surrogate pair in a key', Buffer.from('{"\\udfff":1}')],
  ])('refuses %s', (_, bytes) => {
    expect(failureOf(() => readAdkBody(bytes, JSON_TYPE, LIMITS))).toEqual(unreadable);
  });

  it('parses nothing that is refused by its shape', () => {
    const parse = jest.spyOn(JSON, 'parse');
    for (const text of ['['.repeat(65), `[${'1,'.repeat(200)}`, '[1 2]', '"open']) expect(() => read(text)).toThrow();
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });

  it('takes 64 levels, as many items and keys as the limits say, and whole pairs', () => {
    expect(read(JSON.stringify(Array(100).fill(1))).kind).toBe('json');
    expect(read(`{${Array.from({ length: 100 }, (_, n) => `"k${n}":1`).join()}}`).kind).toBe('json');
    expect(read('['.repeat(64) + ']'.repeat(64)).kind).toBe('json');
    expect(read('"\\ud83d\\ude00"')).toEqual({ kind: 'json', value: '😀' });
  });
});
