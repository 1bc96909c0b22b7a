import { readAdkBody } from '../../../src/transport/adk/adk-json.js';
import { AdkRefusal } from '../../../src/transport/adk/adk-refusal.js';
import { findJsonFault } from '../../../src/transport/adk/json-fault.js';

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

describe('findJsonFault', () => {
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
    expect(findJsonFault(text)).toEqual({ message, offset });
  });

  it.each(['{}', ' [1, -2.5e+3, "\\ud83d\\ude00", null, true, {"a": []}] ', '"x"'])('finds none in %s', (text) => {
    expect(findJsonFault(text)).toBeUndefined();
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
    ['more keys than the limit', Buffer.from(`[${Array.from({ length: 101 }, () => '{"k":1}').join()}]`)],
    ['a number beyond a double', Buffer.from('{"a":1e400}')],
    ['an integer beyond a double', Buffer.from(`[${'9'.repeat(5000)}]`)],
    ['half of a surrogate pair', Buffer.from('{"a":"\\ud800"}')],
    ['half of a surrogate pair in a key', Buffer.from('{"\\udfff":1}')],
  ])('refuses %s', (_, bytes) => {
    expect(failureOf(() => readAdkBody(bytes, JSON_TYPE, LIMITS))).toEqual(unreadable);
  });

  it('takes 64 levels and whole pairs', () => {
    expect(read('['.repeat(64) + ']'.repeat(64)).kind).toBe('json');
    expect(read('"\\ud83d\\ude00"')).toEqual({ kind: 'json', value: '😀' });
  });
});
