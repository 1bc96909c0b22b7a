import { idProblem } from '../../../src/transport/http/path-rules.js';

describe('idProblem', () => {
  it.each([['s1'], ['用户'], ['a b'], ['x'.repeat(10)], ['😀'.repeat(10)]])('accepts %j', (id) => {
    expect(idProblem(id, 10)).toBeUndefined();
  });

  it.each([
    ['', 'not be empty'],
    [' a', 'not begin or end with white space'],
    ['a\u3000', 'not begin or end with white space'],
    ['a\u0000b', 'not hold control characters'],
    ['a\nb', 'not hold control characters'],
    ['a\u0085b', 'not hold control characters'],
    ['x'.repeat(11), 'have at most 10 characters'],
    ['😀'.repeat(11), 'have at most 10 characters'],
  ])('refuses %j', (id, problem) => {
    expect(idProblem(id, 10)).toBe(problem);
  });
});
