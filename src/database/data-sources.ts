import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { MIGRATIONS } from './migrations/migrations.js';

/** Where the rows are, as the configuration says it. */
export interface DatabaseLocation {
  /** `sqlite:<path>`, `sqlite::memory:` or `mysql://user:pass@host[:port]/name`. */
  readonly url: string;
  readonly synchronous: 'full' | 'normal';
  readonly poolSize: number;
}

/** The path of a SQLite URL, or `:memory:`; undefined for another database. */
export function sqlitePath(url: string): string | undefined {
  if (!url.startsWith('sqlite:')) return undefined;
  const path = url.slice('sqlite:'.length);
  return path === ':memory:' ? path : resolve(path);
}

/** The one connection that writes. */
export function sqliteWriter(path: string, synchronous: 'full' | 'normal'): DataSource {
  if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return new DataSource({
    type: 'better-sqlite3',
    database: path,
    enableWAL: path !== ':memory:',
    prepareDatabase: (database: { pragma(text: string): unknown }) => {
      database.pragma(`synchronous = ${synchronous}`);
      database.pragma('busy_timeout = 5000');
    },
    migrations: MIGRATIONS,
    migrationsTransactionMode: 'each',
  });
}

/** A second, read-only connection on the same file: it sees only committed rows and never waits for the writer. */
export function sqliteReader(path: string): DataSource {
  return new DataSource({ type: 'better-sqlite3', database: path, readonly: true });
}

export function mysqlPool(url: string, poolSize: number): DataSource {
  const options: DataSourceOptions = {
    type: 'mysql',
    url,
    charset: 'utf8mb4',
    timezone: 'Z',
    supportBigNumbers: true,
    bigNumberStrings: false,
    poolSize,
    extra: { connectionLimit: poolSize },
    migrations: MIGRATIONS,
    migrationsTransactionMode: 'each',
  };
  return new DataSource(options);
}

interface MysqlPool {
  on(event: 'connection', listener: (connection: { query(sql: string): void }) => void): void;
}

const SESSION_VARIABLES = [
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  "SET SESSION time_zone = '+00:00'",
];

/** READ COMMITTED and UTC on every connection: under REPEATABLE READ the claim loop deadlocks. */
export async function setSessionVariables(source: DataSource): Promise<void> {
  const pool = (source.driver as unknown as { pool: MysqlPool }).pool;
  pool.on('connection', (connection) => {
    for (const statement of SESSION_VARIABLES) connection.query(statement);
  });
  // the pool already holds the one connection that the start made; the listener came too late for it
  for (const statement of SESSION_VARIABLES) await source.query(statement);
}
