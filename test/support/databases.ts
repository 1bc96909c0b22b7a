import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';

/** An empty database of one test. */
export interface TestDatabase {
  /** As the key `database.url` takes it. */
  readonly url: string;
  /** Removes it with all its data; close every connection first. */
  drop(): Promise<void>;
}

/** A kind of database that a suite runs on. */
export interface DatabaseUnderTest {
  readonly name: 'sqlite' | 'mysql';
  /** A new one of its own, so that tests do not see each other. */
  readonly create: () => Promise<TestDatabase>;
}

const sqlite: DatabaseUnderTest = {
  name: 'sqlite',
  create: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bridle-sqlite-'));
    return {
      url: `sqlite:${join(folder, 'test.sqlite')}`,
      drop: async () => rmSync(folder, { recursive: true, force: true }),
    };
  },
};

/** The MySQL or MariaDB at a URL that ends without a schema. */
export function mysqlAt(server: string): DatabaseUnderTest {
  const execute = async (sql: string): Promise<void> => {
    const connection = await createConnection(server);
    await connection.query(sql);
    await connection.end();
  };
  return {
    name: 'mysql',
    create: async () => {
      const schema = `bridle_${randomBytes(6).toString('hex')}`;
      await execute(`CREATE DATABASE ${schema} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`);
      return { url: new URL(schema, server).href, drop: () => execute(`DROP DATABASE ${schema}`) };
    },
  };
}

/**
 * What a contract suite runs on: `describe.each(databasesUnderTest())('on $name', …)`. SQLite always, MySQL or MariaDB
 * when `BRIDLE_TEST_MYSQL_URL` names a server (`npm test` starts one for the contract ring).
 */
export function databasesUnderTest(): readonly DatabaseUnderTest[] {
  const server = process.env['BRIDLE_TEST_MYSQL_URL'];
  return server ? [sqlite, mysqlAt(server)] : [sqlite];
}

/**
 * MySQL or MariaDB alone, for tests that need several processes on one database.
 * @throws Error when no server is named: such a test is never skipped
 */
export function mysqlUnderTest(): DatabaseUnderTest {
  const server = process.env['BRIDLE_TEST_MYSQL_URL'];
  if (!server) throw new Error('BRIDLE_TEST_MYSQL_URL names no server; npm test starts one');
  return mysqlAt(server);
}
