import { readingOf } from '../../../../src/harness/models/offline/ocr-lines.js';

const line = (text: string, confidence = 90) => text.split(' ').map((word) => ({ text: word, confidence }));

describe('readingOf', () => {
  it('joins words as they are written', () => {
    expect(readingOf([line('TOTAL EUR 16.70'), line('发 票 金额 : 128.50 元'), line('2026 年 8 月 17 日')])).toEqual({
      outcome: 'read',
      lines: ['TOTAL EUR 16.70', '发票金额：128.50元', '2026年8月17日'],
      confidence: 0.9,
    });
  });

  it('leaves out words and lines that were not read with confidence', () => {
    const title = [...line('CORNER CAFE', 92), ...line('Ww', 20)];
    expect(readingOf([line('[11]', 83), title, line('KRELH noise', 55), line('|', 95), line('OK', 96)])).toMatchObject({
      lines: ['CORNER CAFE', 'OK'],
    });
  });

  it('finds nothing in noise', () => {
    expect(readingOf([])).toEqual({ outcome: 'none' });
    expect(readingOf([line('~', 99), line('abcdef', 30)])).toEqual({ outcome: 'none' });
  });

  it('weighs confidence by length', () => {
    const reading = readingOf([
      [
        { text: 'abcdefghi', confidence: 100 },
        { text: 'x', confidence: 50 },
      ],
    ]);
    expect(reading).toMatchObject({ confidence: 0.95 });
  });
});
