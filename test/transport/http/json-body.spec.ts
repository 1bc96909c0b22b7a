import { AppError } from '../../../src/common/app-error.js';
import { checkShape, decodeUtf8, parseJson } from '../../../src/transport/http/json-body.js';

const LIMITS = { maxDepth: 4, maxKeys: 5 };
const parse = (text: string) => parseJson(Buffer.from(text), LIMITS);

function messageOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    expect((error as AppError).reason).toBe('INVALID_BODY');
    return (error as AppError).message;
  }
  throw new Error('nothing was thrown');
}

describe('parseJson', () => {
  it('reads JSON, with or without a byte order mark', () => {
    expect(parse('{"a":["\\"}",{"b":null}]}')).toEqual({ a: ['"}', { b: null }] });
    expect(parse('\ufeff[1]')).toEqual([1]);
  });

  it('keeps pairs of surrogates and an escaped backslash before a u', () => {
    expect(parse('{"a":"\\ud83d\\ude00","b":"\\\\ud83d"}')).toEqual({ a: '😀', b: '\\ud83d' });
  });

  it.each([
    ['', 'the body is empty; a JSON object is expected'],
    ['{"secret":"s3cr3t",}', 'the body is not valid JSON at position 19'],
    ['{"a":"s3cr3t', 'the body is not valid JSON at position 12'],
    ['nonsense', 'the body is not valid JSON'],
    ['[[[[[]]]]]', 'the body nests deeper than 4 levels'],
    ['{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1}', 'the body has more than 5 keys'],
    ['{"a":"\\ud83d"}', 'the body holds half of a surrogate pair'],
    ['{"\\udE00":1}', 'the body holds half of a surrogate pair'],
  ])('refuses %j', (text, message) => {
    expect(messageOf(() => parse(text))).toBe(message);
  });

  it('refuses bytes that are no UTF-8', () => {
    expect(messageOf(() => decodeUtf8(Uint8Array.of(0x22, 0xc3, 0x28, 0x22)))).toBe('the body is not valid UTF-8');
  });

  it('refuses a deep text without building it', () => {
    const deep = '['.repeat(20_000_000);
    const before = process.memoryUsage().heapUsed;
    expect(messageOf(() => checkShape(deep, LIMITS))).toContain('nests deeper');
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(50e6);
  });

  it('skips long strings fast', () => {
    const text = JSON.stringify({ data: 'A'.repeat(14e6) });
    const start = performance.now();
    checkShape(text, LIMITS);
    expect(performance.now() - start).toBeLessThan(2000);
  });
});
