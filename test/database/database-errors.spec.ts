import { isDuplicateKey, isRefused, withStoreFault } from '../../src/database/database-errors.js';

const driverError = (fields: object): Error => Object.assign(new Error('at 10.0.0.7:3306'), fields);

describe('an error of the database', () => {
  it.each([
    ['a refused connection', { code: 'ECONNREFUSED', errno: -111 }],
    ['a lost connection', { code: 'PROTOCOL_CONNECTION_LOST', fatal: true }],
    ['a server that takes no more connections', { code: 'ER_CON_COUNT_ERROR', errno: 1040, fatal: true }],
    ['a name that is not found', { driverError: { code: 'ENOTFOUND' } }],
  ])('says that the store is unavailable for %s, and not where it is', (_what, fields) => {
    const error = withStoreFault(driverError(fields));
    expect(error).toMatchObject({ reason: 'STORE_UNAVAILABLE', http: 503, retryable: true, retryAfterMs: 1000 });
    expect((error as Error).message).not.toContain('10.0.0.7');
    // Nobody knows what was kept.
    expect(isRefused(error)).toBe(false);
  });

  it.each([
    ['a unique key', { code: 'ER_DUP_ENTRY', errno: 1062 }],
    ['a full disk', { code: 'SQLITE_FULL' }],
  ])('stays as it is for %s', (_what, fields) => {
    const error = driverError(fields);
    expect(withStoreFault(error)).toBe(error);
    expect(isDuplicateKey(error)).toBe('errno' in fields);
    expect(isRefused(error)).toBe(true);
  });

  it('stays as it is when our own code failed', () => {
    const error = new TypeError('x is undefined');
    expect(withStoreFault(error)).toBe(error);
  });
});
