import { AppError } from '../common/app-error.js';

interface DriverError {
  readonly errno?: number;
  readonly code?: string;
  /** mysql2: the connection is gone. */
  readonly fatal?: boolean;
}

/** TypeORM wraps the driver's error, and we wrap both. */
function driverErrorOf(error: unknown): DriverError {
  if (error instanceof AppError) return error.cause === undefined ? {} : driverErrorOf(error.cause);
  const wrapped = (error ?? {}) as { driverError?: DriverError } & DriverError;
  return wrapped.driverError ?? wrapped;
}

/** A unique key refused the row. Judged by number: mysql2 names MariaDB's errors wrongly. */
export function isDuplicateKey(error: unknown): boolean {
  const { errno, code } = driverErrorOf(error);
  return errno === 1062 || code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
}

/** Deadlock (1213) or lock wait time-out (1205): the whole transaction may be repeated. */
export function isRepeatable(error: unknown): boolean {
  const { errno } = driverErrorOf(error);
  return errno === 1213 || errno === 1205;
}

/** A CHECK constraint refused the row (4025 MariaDB, 3819 MySQL). */
export function isCheckViolation(error: unknown): boolean {
  const { errno, code } = driverErrorOf(error);
  return errno === 4025 || errno === 3819 || code === 'SQLITE_CONSTRAINT_CHECK';
}

/**
 * Nothing of the transaction was kept, for certain: the database refused a statement, or our own code failed before
 * the commit. False after a lost connection, when nobody knows.
 */
export function isRefused(error: unknown): boolean {
  const { errno, code, fatal } = driverErrorOf(error);
  if (code === undefined) return errno === undefined && !(error instanceof AppError);
  if (code.startsWith('SQLITE_') || code === 'POOL_BUSY' || code === TOO_LONG) return true;
  return errno !== undefined && errno > 0 && fatal !== true && faultOf(error) !== 'unreachable';
}

/** The code of a `StatementTooLongError`. */
const TOO_LONG = 'STATEMENT_TOO_LONG';

type Fault = 'unreachable' | 'busy' | 'readOnly' | 'full' | 'broken';

/** What a caller reads of a fault, and when a repetition may help, milliseconds. */
const WORDS: Readonly<Record<Fault, readonly [message: string, retryAfterMs: number]>> = {
  unreachable: ['the database does not answer', 1000],
  busy: ['the database is too busy', 1000],
  readOnly: ['the database takes no changes now', 5000],
  full: ['the database has no room left', 30_000],
  broken: ['the database cannot read or write its data', 30_000],
};

/** MySQL's and MariaDB's errors of which the rows are innocent. Everything else that they refuse is our own fault. */
const BY_NUMBER = new Map<number, Fault>(
  (
    [
      // access denied, unknown schema, blocked host; shutdown; killed or idle connection; network; a cluster that forms
      ['unreachable', [1044, 1045, 1049, 1129, 1130, 1698, 1053, 1927, 3169, 4031, 1047]],
      ['unreachable', [1152, 1158, 1159, 1160, 1161, 1184, 2002, 2003, 2006, 2013]],
      // too many connections, of a user too, or threads; deadlock; lock wait; interrupted or too long; memory
      ['busy', [1040, 1203, 1226, 1135, 1213, 1205, 1206, 1317, 1969, 3024, 1037, 1038, 1041]],
      // an option prevents it (a replica), a read-only transaction or server
      ['readOnly', [1290, 1792, 1836]],
      // disk or table space
      ['full', [1021, 1114]],
      // a file that cannot be read or written, damaged tables and indexes
      ['broken', [1023, 1024, 1026, 1030, 1034, 1194, 1195, 1712]],
    ] as const
  ).flatMap(([fault, numbers]) => numbers.map((number) => [number, fault] as const)),
);

const BY_CODE: readonly (readonly [RegExp, Fault])[] = [
  [/^POOL_BUSY$/, 'busy'],
  [/^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|PROTOCOL_|SERVER_SILENT)/, 'unreachable'],
  [/^SQLITE_(BUSY|LOCKED|NOMEM)/, 'busy'],
  [/^SQLITE_READONLY/, 'readOnly'],
  [/^SQLITE_FULL/, 'full'],
  [/^SQLITE_(IOERR|CORRUPT|NOTADB|CANTOPEN)/, 'broken'],
];

function faultOf(error: unknown): Fault | undefined {
  const { errno, code = '', fatal } = driverErrorOf(error);
  const known = BY_NUMBER.get(errno ?? 0) ?? BY_CODE.find(([pattern]) => pattern.test(code))?.[1];
  return known ?? (fatal === true ? 'unreachable' : undefined);
}

/** The database does not answer, or has no room for another caller: a process that starts may try again later. */
export function isUnavailable(error: unknown): boolean {
  const fault = faultOf(error);
  return fault === 'unreachable' || fault === 'busy';
}

/**
 * The error as callers get it: what is no fault of theirs or ours is `STORE_UNAVAILABLE`, a text that the server does
 * not take `BODY_TOO_LARGE`, without the driver's words; anything else stays as it is.
 */
export function withStoreFault(error: unknown): unknown {
  if (error instanceof AppError) return error;
  if (driverErrorOf(error).code === TOO_LONG) {
    return new AppError('BODY_TOO_LARGE', 'the text is larger than the database takes', { cause: error });
  }
  const fault = faultOf(error);
  if (fault === undefined) return error;
  const [message, retryAfterMs] = WORDS[fault];
  return new AppError('STORE_UNAVAILABLE', message, { retryAfterMs, cause: error });
}
