import fc from 'fast-check';
import { wordsOf } from '../../../src/harness/models/words.js';

const numRuns = process.env['BRIDLE_TEST_FULL'] ? 1000 : 100;

describe('wordsOf', () => {
  it('cuts after words and, in Chinese, after punctuation', () => {
    expect(wordsOf('one two, three\n')).toEqual(['one ', 'two, ', 'three\n']);
    expect(wordsOf('图片很清晰，主色是白色。')).toEqual(['图片很清晰，', '主色是白色。']);
  });

  it('loses nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => expect(wordsOf(text).join('')).toBe(text)),
      { numRuns },
    );
    expect(wordsOf(' \n')).toEqual([' \n']);
    expect(wordsOf('')).toEqual([]);
  });
});
