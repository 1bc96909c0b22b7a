import { createRequire } from 'node:module';
import type { Duplex } from 'node:stream';
import type * as Mysql from 'mysql2';
import type { Connection, ConnectionOptions } from 'mysql2';

/** What `database.timeoutMs` is where nobody says it, milliseconds. */
export const DEFAULT_TIMEOUT_MS = 10_000;

/** A connection that the server hears nothing of is closed, and what it had locked is free again, seconds. */
const IDLE_S = 60;
/**
 * The same inside a transaction, where the server knows it (MariaDB). A process that stands still holds its rows until
 * then; the leases that it has end at about that time, and whoever takes its runs over must not wait for them.
 */
const IDLE_TRANSACTION_S = 20;
/** For a row, and for a table that somebody alters, seconds: the victim is repeated or told, it does not hang. */
const ROW_LOCK_S = 3;
const TABLE_LOCK_S = 10;

/** The driver is an optional package: only a server on MySQL or MariaDB loads it. */
export const mysqlDriver = (): typeof Mysql => createRequire(import.meta.url)('mysql2') as typeof Mysql;

/**
 * How every connection of ours is made, in the pool or beside it.
 * @param url `mysql://user:password@host[:port]/database`
 * @param timeoutMs to connect
 */
export function mysqlConnectionOptions(url: string, timeoutMs = DEFAULT_TIMEOUT_MS): ConnectionOptions {
  const { hostname, port, username, password, pathname } = new URL(url);
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? 3306 : Number(port),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
    charset: 'utf8mb4_bin',
    timezone: 'Z',
    supportBigNumbers: true,
    bigNumberStrings: false,
    stringifyObjects: true,
    connectTimeout: timeoutMs,
    enableKeepAlive: true,
    keepAliveInitialDelay: 10_000,
    // a server must not be able to ask for files of this machine
    flags: ['-LOCAL_FILES'],
  };
}

/**
 * What we depend on is said on every connection, before its first statement, whatever the server's defaults are.
 * READ COMMITTED, because the claim loop deadlocks under REPEATABLE READ; a sql_mode that refuses what does not fit and
 * reads a backslash in a text as the driver writes it; CHECK constraints that check.
 * @param timeoutMs after which the server gives a statement up (MySQL: a SELECT only); 0 = never
 */
export function sessionStatements(timeoutMs: number): readonly string[] {
  return [
    'SET NAMES utf8mb4 COLLATE utf8mb4_bin',
    'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE',
    `SET SESSION autocommit = 1, time_zone = '+00:00',
      sql_mode = 'STRICT_ALL_TABLES,ONLY_FULL_GROUP_BY,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION',
      innodb_lock_wait_timeout = ${ROW_LOCK_S}, lock_wait_timeout = ${TABLE_LOCK_S}, wait_timeout = ${IDLE_S}
      /*M! , check_constraint_checks = 1, max_statement_time = ${timeoutMs / 1000},
        idle_transaction_timeout = ${IDLE_TRANSACTION_S} */
      /*!80000 , max_execution_time = ${timeoutMs} */`,
  ];
}

/** The server's own limit comes first; this one is for a server that says nothing any more. */
const MARGIN_MS = 1000;

/** The server has said nothing for too long; the connection is dropped, because nobody knows what it still does. */
export class SilentServerError extends Error {
  readonly code = 'SERVER_SILENT';

  constructor(waitedMs: number) {
    super(`the server did not answer a statement within ${waitedMs} ms`);
    this.name = 'SilentServerError';
  }
}

/**
 * Executes one statement that the server itself ends in time.
 * @param timeoutMs 0 = it may take as long as it takes
 * @throws SilentServerError when not even that comes
 */
export function execute(
  connection: Connection,
  sql: string,
  values: unknown[] | undefined,
  timeoutMs: number,
): Promise<[rows: unknown, fields: unknown]> {
  return executeWithin(connection, sql, values, timeoutMs === 0 ? undefined : timeoutMs + MARGIN_MS);
}

/**
 * Executes one statement.
 * @param limitMs undefined = it may take as long as it takes
 * @throws SilentServerError after that time; no further statement, not even a ROLLBACK, waits behind it then
 */
export function executeWithin(
  connection: Connection,
  sql: string,
  values: unknown[] | undefined,
  limitMs: number | undefined,
): Promise<[rows: unknown, fields: unknown]> {
  return new Promise((resolve, reject) => {
    const giveUp = (waitedMs: number): void => {
      drop(connection);
      reject(new SilentServerError(waitedMs));
    };
    const timer = limitMs === undefined ? undefined : setTimeout(giveUp, limitMs, limitMs);
    connection.query({ sql, values }, (error, rows, fields) => {
      clearTimeout(timer);
      if (error) reject(error);
      else resolve([rows, fields]);
    });
  });
}

/** Ends a connection at once: a peer that is gone never ends its half. */
export function drop(connection: Connection): void {
  connection.destroy();
  (connection as unknown as { stream: Duplex }).stream.destroy();
}

/**
 * Says on a new connection what we depend on.
 * @returns the longest statement that the server takes, bytes
 */
export async function setSession(connection: Connection, timeoutMs: number): Promise<number> {
  const statements = sessionStatements(timeoutMs);
  await Promise.all(statements.map((sql) => execute(connection, sql, undefined, timeoutMs)));
  const [rows] = await execute(connection, 'SELECT @@max_allowed_packet AS bytes', undefined, timeoutMs);
  return Number((rows as { bytes: unknown }[])[0]?.bytes);
}

/**
 * One connection beside the pool, for what must not wait for it: a worker thread that renews leases, for instance.
 * @param timeoutMs to connect, and of a statement in the server
 * @throws the driver's error when the server does not answer or refuses
 */
export async function openMysqlConnection(url: string, timeoutMs = DEFAULT_TIMEOUT_MS): Promise<Connection> {
  const connection = mysqlDriver().createConnection(mysqlConnectionOptions(url, timeoutMs));
  await new Promise<void>((resolve, reject) => {
    connection.connect((error) => (error ? reject(error) : resolve()));
  });
  // an error between two statements is told by the next one
  connection.on('error', () => undefined);
  try {
    await setSession(connection, timeoutMs);
  } catch (error) {
    drop(connection);
    throw error;
  }
  return connection;
}
