import { checkId, ID_LENGTHS, idProblem, type IdKind } from '../../src/common/id-rules.js';

describe('ids', () => {
  it.each(['a', 'A-b_c.d:e@f/g', '会话 1', 'é', '😀', 'a b', '..', "'; DROP TABLE runs; --"])('may be %j', (id) => {
    expect(idProblem('session', id)).toBeUndefined();
  });

  it.each([
    ['', 'must not be empty'],
    [' a', 'must not begin or end with white space'],
    ['a\u00a0', 'must not begin or end with white space'],
    ['a\nb', 'must not contain control characters'],
    ['a\u0000', 'must not contain control characters'],
    ['a\u0085b', 'must not contain control characters'],
    ['a\ud800', 'must be valid Unicode'],
    ['\udc00a', 'must be valid Unicode'],
  ])('may not be %j: %s', (id, problem) => {
    expect(idProblem('session', id)).toBe(problem);
  });

  it.each(Object.entries(ID_LENGTHS) as [IdKind, number][])('of kind %s have at most %i characters', (kind, length) => {
    // characters, not code units: what the columns count
    expect(idProblem(kind, '😀'.repeat(length))).toBeUndefined();
    expect(idProblem(kind, 'a'.repeat(length + 1))).toBe(`must have at most ${length} characters`);
  });

  it('are refused by the name of their field', () => {
    expect(() => checkId('request', 'request_id', ' ')).toThrow(
      expect.objectContaining({ reason: 'ID_INVALID', message: 'request_id must not begin or end with white space' }),
    );
    expect(() => checkId('request', 'request_id', 'a')).not.toThrow();
  });
});
