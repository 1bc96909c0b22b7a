import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { AbstractLogger, DataSource } from 'typeorm';
import { MIGRATIONS } from './migrations/migrations.js';
import { MysqlPool, type PoolLimits } from './mysql-pool.js';

/** What TypeORM has to say is thrown too, and told by those who catch it: our log is JSON and has no other lines. */
class SilentLogger extends AbstractLogger {
  protected override writeLog(): void {}
}

const logger = new SilentLogger();

/** Where the rows are, as the configuration says it. */
export interface DatabaseLocation {
  /** `sqlite:<path>`, `sqlite::memory:` or `mysql://user:pass@host[:port]/name`. */
  readonly url: string;
  readonly synchronous: 'full' | 'normal';
  readonly poolSize: number;
  /** MySQL: for a free connection, and for a statement, milliseconds; default 10000. */
  readonly timeoutMs?: number;
}

/** The path of a SQLite URL, or `:memory:`; undefined for another database. */
export function sqlitePath(url: string): string | undefined {
  if (!url.startsWith('sqlite:')) return undefined;
  const path = url.slice('sqlite:'.length);
  return path === ':memory:' ? path : resolve(path);
}

/** Prepared statements kept; a batch's statement differs with its number of rows. */
const STATEMENTS_KEPT = 1000;

/** The one connection that writes. */
export function sqliteWriter(path: string, synchronous: 'full' | 'normal'): DataSource {
  if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return new DataSource({
    type: 'better-sqlite3',
    database: path,
    enableWAL: path !== ':memory:',
    statementCacheSize: STATEMENTS_KEPT,
    prepareDatabase: (database: { pragma(text: string): unknown }) => {
      database.pragma(`synchronous = ${synchronous}`);
      database.pragma('busy_timeout = 5000');
    },
    migrations: MIGRATIONS,
    migrationsTransactionMode: 'each',
    logger,
  });
}

/** A second, read-only connection on the same file: it sees only committed rows and never waits for the writer. */
export function sqliteReader(path: string): DataSource {
  return new DataSource({ type: 'better-sqlite3', database: path, readonly: true, logger });
}

/**
 * Connections to MySQL or MariaDB; TypeORM has them from our pool.
 * @param limits of the pool and its statements
 */
export function mysqlSource(url: string, limits: PoolLimits): DataSource {
  return new DataSource({
    type: 'mysql',
    url,
    driver: { createPool: () => new MysqlPool(url, limits) },
    migrations: MIGRATIONS,
    migrationsTransactionMode: 'each',
    logger,
  });
}
