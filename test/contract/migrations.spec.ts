import { createConnection } from 'mysql2/promise';
import type { QueryRunner } from 'typeorm';
import { SystemClock } from '../../src/common/clock.js';
import { mysqlSource } from '../../src/database/data-sources.js';
import { Database } from '../../src/database/database.js';
import { migrateSchema } from '../../src/database/migrate.js';
import { MIGRATIONS, TABLES } from '../../src/database/migrations/migrations.js';
import { databasesUnderTest, mysqlUnderTest, type TestDatabase } from '../support/databases.js';

const clock = new SystemClock();
const connect = (url: string): Promise<Database> =>
  Database.connect({ url, synchronous: 'normal', poolSize: 2 }, clock);

describe.each(databasesUnderTest())('the migrations on $name', ({ create }) => {
  let place: TestDatabase;
  beforeEach(async () => {
    place = await create();
  });
  afterEach(() => place.drop());

  it('run once, however often they are asked to', async () => {
    const database = await connect(place.url);
    expect(await database.schemaState()).toEqual({ pending: MIGRATIONS.map(({ name }) => name), unknown: [] });
    for (let time = 0; time < 3; time += 1) await database.migrate();
    expect(await database.schemaState()).toEqual({ pending: [], unknown: [] });
    const rows = await database.query<{ name: string }>('SELECT name FROM migrations');
    expect(rows.map(({ name }) => name)).toEqual(MIGRATIONS.map(({ name }) => name));
    await database.close();
  });

  it('leave the schema of a newer version alone, and say what to do', async () => {
    const database = await connect(place.url);
    await database.migrate();
    await database.inTransaction((manager) =>
      manager.query("INSERT INTO migrations (timestamp, name) VALUES (1999000000000, 'AddMore1999000000000')"),
    );
    await expect(database.migrate()).rejects.toThrow(
      'a newer version made the schema (AddMore1999000000000); run that version, or restore a backup',
    );
    await database.close();
  });
});

describe('migrations of MySQL that are killed', () => {
  let place: TestDatabase;
  beforeEach(async () => {
    place = await mysqlUnderTest().create();
  });
  afterEach(() => place.drop());

  const execute = async (url: string, sql: string): Promise<unknown> => {
    const connection = await createConnection(url);
    try {
      const [rows] = await connection.query(sql);
      return rows;
    } finally {
      await connection.end();
    }
  };

  const schemaOf = async (url: string): Promise<unknown> =>
    Promise.all(TABLES.map((table) => execute(url, `SHOW CREATE TABLE ${table}`)));

  /**
   * Ends the connection after the first statement that changed something and was no end yet: for the server, its client
   * was killed.
   */
  const migrateAndDie = async (ends: readonly string[] = []): Promise<string | undefined> => {
    const source = await mysqlSource(place.url, { poolSize: 2, timeoutMs: 0 }).initialize();
    let last: string | undefined;
    const createRunner = source.createQueryRunner.bind(source);
    source.createQueryRunner = () =>
      dying(createRunner(), ends, async (sql, id) => {
        last = sql;
        await execute(place.url, `KILL ${id}`);
      });
    const outcome = await migrateSchema(source).catch((error: unknown) => error);
    await source.destroy();
    expect(outcome).toEqual(last === undefined ? undefined : new Error('killed'));
    return last;
  };

  it('go on where they ended, at whichever statement that was', async () => {
    const statements: string[] = [];
    for (let last = await migrateAndDie(); last !== undefined; last = await migrateAndDie(statements)) {
      statements.push(last);
      if (statements.length > 200) throw new Error(`no end in sight after ${last}`);
    }
    // each table, each CHECK, the table of migrations and what is written into it
    expect(statements.length).toBeGreaterThan(TABLES.length + 10);
    expect(new Set(statements).size).toBe(statements.length);

    const whole = await mysqlUnderTest().create();
    const database = await connect(whole.url);
    await database.migrate();
    await database.close();
    expect(await schemaOf(place.url)).toEqual(await schemaOf(whole.url));
    await whole.drop();
  });

  it('give the lock back: who waited for them migrates then', async () => {
    const dead = migrateAndDie();
    const database = await connect(place.url);
    await Promise.all([dead, database.migrate()]);
    expect(await database.schemaState()).toEqual({ pending: [], unknown: [] });
    await database.close();
  });
});

const CHANGES = /^\s*(CREATE|ALTER|DROP|INSERT|UPDATE|DELETE)\b/i;

/** A runner that calls back after its first change that was no end yet, with its connection's id, and then fails. */
function dying(
  runner: QueryRunner,
  ends: readonly string[],
  killed: (sql: string, id: number) => Promise<void>,
): QueryRunner {
  const query = runner.query.bind(runner) as (sql: string, ...rest: unknown[]) => Promise<unknown>;
  let isDead = false;
  const deadly = async (sql: string, ...rest: unknown[]): Promise<unknown> => {
    const result = await query(sql, ...rest);
    if (isDead || !CHANGES.test(sql) || ends.includes(sql)) return result;
    isDead = true;
    const rows = (await query('SELECT CONNECTION_ID() AS id')) as { id: number }[];
    await killed(sql, rows[0]!.id);
    throw new Error('killed');
  };
  runner.query = deadly as QueryRunner['query'];
  return runner;
}
