import { AppError } from '../../src/common/app-error.js';
import {
  isCheckViolation,
  isDuplicateKey,
  isRefused,
  isRepeatable,
  withStoreFault,
} from '../../src/database/database-errors.js';
import { PoolBusyError } from '../../src/database/mysql-pool.js';
import { SilentServerError } from '../../src/database/mysql-session.js';

const driverError = (fields: object): Error => Object.assign(new Error('at 10.0.0.7:3306'), fields);
/** As a server's packet comes: mysql2 knows MySQL's names, which are wrong for some numbers of MariaDB. */
const numbered = (errno: number): Error => driverError({ errno, code: `ER_NAME_OF_${errno}` });

const UNREACHABLE = ['the database does not answer', 1000] as const;
const BUSY = ['the database is too busy', 1000] as const;
const READ_ONLY = ['the database takes no changes now', 5000] as const;
const FULL = ['the database has no room left', 30_000] as const;
const BROKEN = ['the database cannot read or write its data', 30_000] as const;

describe('a fault of the database', () => {
  it.each([
    ['a refused connection', driverError({ code: 'ECONNREFUSED', errno: -111 }), UNREACHABLE],
    ['a lost connection', driverError({ code: 'PROTOCOL_CONNECTION_LOST', fatal: true }), UNREACHABLE],
    ['a statement on a closed connection', driverError({ fatal: true }), UNREACHABLE],
    ['a server that fell silent', new SilentServerError(1000), UNREACHABLE],
    ['a name that is not found', driverError({ driverError: { code: 'ENOTFOUND' } }), UNREACHABLE],
    ['a pool without a free connection', new PoolBusyError(1000, 10), BUSY],
    ['too many connections', driverError({ code: 'ER_CON_COUNT_ERROR', errno: 1040, fatal: true }), BUSY],
    ['too many connections of the user', numbered(1203), BUSY],
    ['a used-up resource of the user', numbered(1226), BUSY],
    ['a server that shuts down', numbered(1053), UNREACHABLE],
    ['a killed connection of MariaDB', numbered(1927), UNREACHABLE],
    ['a killed session of MySQL', numbered(3169), UNREACHABLE],
    ['a server that has gone away', numbered(2006), UNREACHABLE],
    ['a connection lost in a query', numbered(2013), UNREACHABLE],
    ['a changed password', driverError({ code: 'ER_ACCESS_DENIED_ERROR', errno: 1045, fatal: true }), UNREACHABLE],
    ['a deadlock that stayed', numbered(1213), BUSY],
    ['a lock wait time-out that stayed', numbered(1205), BUSY],
    ['a statement that took too long, MariaDB', numbered(1969), BUSY],
    ['a statement that took too long, MySQL', numbered(3024), BUSY],
    ['a replica', numbered(1290), READ_ONLY],
    ['a read-only transaction', numbered(1792), READ_ONLY],
    ['a read-only server', numbered(1836), READ_ONLY],
    ['a full table', numbered(1114), FULL],
    ['a full disk', numbered(1021), FULL],
    ['a damaged index', numbered(1712), BROKEN],
    ['a locked SQLite file', driverError({ code: 'SQLITE_BUSY' }), BUSY],
    ['a locked table of SQLite', driverError({ code: 'SQLITE_LOCKED_SHAREDCACHE' }), BUSY],
    ['a full disk under SQLite', driverError({ code: 'SQLITE_FULL' }), FULL],
    ['a write error under SQLite', driverError({ code: 'SQLITE_IOERR_WRITE' }), BROKEN],
    ['a damaged SQLite file', driverError({ code: 'SQLITE_CORRUPT_INDEX' }), BROKEN],
    ['another file than SQLite', driverError({ code: 'SQLITE_NOTADB' }), BROKEN],
    ['a read-only SQLite file', driverError({ code: 'SQLITE_READONLY_DBMOVED' }), READ_ONLY],
  ])('says that the store is unavailable for %s, why, and nothing of the driver', (_what, error, words) => {
    const [message, retryAfterMs] = words;
    expect(withStoreFault(error)).toMatchObject({
      reason: 'STORE_UNAVAILABLE',
      http: 503,
      retryable: true,
      message,
      retryAfterMs,
      cause: error,
    });
  });

  it('is judged as before once it was said', () => {
    const said = withStoreFault(numbered(1213));
    expect(withStoreFault(said)).toBe(said);
    expect([isRepeatable(said), isRefused(said)]).toEqual([true, true]);
  });
});

describe('a refused row', () => {
  it.each([
    ['a unique key', numbered(1062)],
    ['a unique key of SQLite', driverError({ code: 'SQLITE_CONSTRAINT_UNIQUE' })],
    ['a CHECK of MariaDB', numbered(4025)],
    ['a CHECK of MySQL', numbered(3819)],
    ['a CHECK of SQLite', driverError({ code: 'SQLITE_CONSTRAINT_CHECK' })],
    ['a text that is too long', numbered(1406)],
    ['a character that does not fit', numbered(1366)],
    ['a number out of range', numbered(1264)],
    ['a missing value', numbered(1048)],
    ['a missing value of SQLite', driverError({ code: 'SQLITE_CONSTRAINT_NOTNULL' })],
    ['a text that is no JSON', numbered(3140)],
    ['our own fault', new TypeError('x is undefined')],
  ])('stays as it is for %s, and its neighbours may be written without it', (_what, error) => {
    expect(withStoreFault(error)).toBe(error);
    expect(isRefused(error)).toBe(true);
  });

  it('is told apart', () => {
    const all = [numbered(1062), driverError({ code: 'SQLITE_CONSTRAINT_PRIMARYKEY' }), numbered(4025), numbered(3819)];
    expect(all.map(isDuplicateKey)).toEqual([true, true, false, false]);
    expect(all.map(isCheckViolation)).toEqual([false, false, true, true]);
    expect([1205, 1213, 1040, 1062].map((number) => isRepeatable(numbered(number)))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

describe('what nobody knows', () => {
  it.each([
    ['a connection lost', driverError({ code: 'PROTOCOL_CONNECTION_LOST', fatal: true })],
    ['a reset connection', driverError({ code: 'ECONNRESET', errno: -104, fatal: true })],
    ['a server that fell silent', new SilentServerError(1000)],
    ['a server that shuts down', numbered(1053)],
    ['a killed connection', numbered(1927)],
    ['a killed session', numbered(3169)],
  ])('is whether anything was kept, after %s', (_what, error) => {
    expect([isRefused(error), isRefused(withStoreFault(error))]).toEqual([false, false]);
  });

  it('is not said of work that failed before it asked the database', () => {
    expect(isRefused(new PoolBusyError(1, 1))).toBe(true);
    expect(isRefused(new AppError('STORE_UNAVAILABLE', 'the database does not answer'))).toBe(false);
  });
});
