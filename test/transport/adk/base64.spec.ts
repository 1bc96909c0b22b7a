import { decodeBase64, encodeBase64 } from '../../../src/transport/adk/validation/base64.js';

describe('decodeBase64', () => {
  it.each([
    ['', ''],
    ['aGk=', 'hi'],
    ['aGk', 'hi'],
    ['aA==', 'h'],
    ['aA', 'h'],
    // One padding where two belong: the bytes are clear.
    ['aA=', 'h'],
  ])('reads %j', (text, expected) => {
    expect(decodeBase64(text)).toEqual({ bytes: Buffer.from(expected) });
  });

  it('reads both alphabets', () => {
    const bytes = Buffer.from([0xfb, 0xff, 0xfe, 0, 0x10]);
    expect(decodeBase64('+//+ABA=')).toEqual({ bytes });
    expect(decodeBase64('-__-ABA')).toEqual({ bytes });
  });

  it.each([
    ['!!!', 'Invalid symbol 33, offset 0.'],
    ['-//_ABA=', 'Invalid symbol 45, offset 0.'],
    ['+//+\nABA=', 'Invalid symbol 10, offset 4.'],
    ['aGk=\n', 'Invalid symbol 10, offset 4.'],
    ['aGk==', 'Invalid symbol 61, offset 3.'],
    ['a===', 'Invalid symbol 61, offset 1.'],
    ['aGk=aGk=', 'Invalid symbol 61, offset 3.'],
    ['aG=k', 'Invalid symbol 61, offset 2.'],
    ['A', 'Invalid input length: 1'],
    ['aGkxA', 'Invalid input length: 5'],
    ['aGl=', "Invalid last symbol 0x6c ('l') at offset 2, decoded as 0b00100101."],
    ['data:image/png;base64,aGk=', 'Invalid symbol 58, offset 4.'],
    // Offsets count bytes.
    ['aGké', 'Invalid symbol 169, offset 4.'],
  ])('refuses %j: %s', (text, error) => {
    expect(decodeBase64(text)).toEqual({ error });
  });

  it('reads what it writes', () => {
    for (let length = 0; length < 20; length += 1) {
      const bytes = Buffer.from(Array.from({ length }, (_, index) => (index * 97 + 251) % 256));
      const text = encodeBase64(bytes);
      expect(text).toHaveLength(Math.ceil(length / 3) * 4);
      expect(decodeBase64(text)).toEqual({ bytes });
    }
  });
});
