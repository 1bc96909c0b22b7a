import { AppError } from '../common/app-error.js';

interface DriverError {
  readonly errno?: number;
  readonly code?: string;
  /** mysql2: the connection is gone. */
  readonly fatal?: boolean;
}

/** TypeORM wraps the driver's error; both shapes come by. */
function driverErrorOf(error: unknown): DriverError {
  const wrapped = error as { driverError?: DriverError } & DriverError;
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
  if (code === undefined) return errno === undefined;
  return code.startsWith('SQLITE_') || (errno !== undefined && errno > 0 && fatal !== true);
}

const RETRY_AFTER_MS = 1000;
const CONNECTION_FAULT =
  /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|PROTOCOL_CONNECTION_LOST|PROTOCOL_SEQUENCE_TIMEOUT|POOL_BUSY)/;

/** The error as callers get it: a database that cannot be reached is `STORE_UNAVAILABLE`, anything else stays. */
export function withStoreFault(error: unknown): unknown {
  const { code, fatal } = driverErrorOf(error);
  if (fatal !== true && !CONNECTION_FAULT.test(String(code ?? ''))) return error;
  return new AppError('STORE_UNAVAILABLE', 'the database does not answer', {
    retryAfterMs: RETRY_AFTER_MS,
    cause: error,
  });
}
