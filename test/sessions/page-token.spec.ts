import { fromPageToken, toPageToken } from '../../src/sessions/page-token.js';

const ID = '01a22987-d8ea-777a-b744-5724e8679900';

describe('page tokens', () => {
  it('give back the id that they were made of, and can stand in a URL', () => {
    expect(fromPageToken(toPageToken(ID))).toBe(ID);
    expect(toPageToken(ID)).toMatch(/^[\w-]+$/);
  });

  it.each([
    '',
    'x',
    ID,
    toPageToken('short'),
    toPageToken(`${ID}x`),
    Buffer.from(`v2:${ID}`).toString('base64url'),
    toPageToken("' OR 1=1 --                        ").padEnd(60, 'A'),
  ])('refuse %j', (token) => {
    expect(() => fromPageToken(token)).toThrow(expect.objectContaining({ reason: 'CURSOR_INVALID' }));
  });
});
