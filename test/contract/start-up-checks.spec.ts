import { createConnection, type Connection } from 'mysql2/promise';
import { startMariaDb, type MariaDb } from '../../scripts/lib/mariadb.mjs';
import type { Check } from '../../src/boot/check.js';
import { checkDatabase } from '../../src/boot/start-up-checks.js';
import { SystemClock, type Clock } from '../../src/common/clock.js';
import { Database } from '../../src/database/database.js';
import { aConfig } from '../support/test-config.js';

/** A server of its own: what is wrong here is wrong for everybody on it. */
describe('the start-up checks of MySQL', () => {
  let mariaDb: MariaDb;
  let root: Connection;

  beforeAll(async () => {
    mariaDb = await startMariaDb();
    root = await createConnection(mariaDb.url.replace('bridle:bridle', 'root'));
  }, 120_000);
  afterAll(async () => {
    await root.end();
    await mariaDb.stop();
  });

  beforeEach(() => root.query('CREATE DATABASE bridle CHARACTER SET utf8mb4 COLLATE utf8mb4_bin'));
  afterEach(() => root.query('DROP DATABASE bridle'));

  const open = async (url = `${mariaDb.url}bridle`): Promise<Database> =>
    Database.connect({ url, synchronous: 'full', poolSize: 1 }, new SystemClock());

  const migrated = async (): Promise<Database> => {
    const database = await open();
    await database.migrate();
    return database;
  };

  /** Checks, and closes the database. */
  const check = async (database: Database, clock: Clock = new SystemClock()): Promise<readonly Check[]> => {
    const checks = await checkDatabase(database, aConfig({}), clock);
    await database.close();
    return checks;
  };
  const reds = (checks: readonly Check[]): readonly (readonly [string, string])[] =>
    checks.filter((each) => !each.isGood).map(({ name, text }) => [name, text] as const);

  it('are green on an empty schema, and on a migrated one', async () => {
    expect(reds(await check(await open()))).toEqual([]);
    expect(reds(await check(await migrated()))).toEqual([]);
  });

  it.each([
    ['charset', 'ALTER DATABASE bridle CHARACTER SET latin1', 'the schema bridle is latin1'],
    [
      'charset',
      'ALTER TABLE runs MODIFY agent VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL',
      'runs.agent utf8mb4_general_ci',
    ],
    ['tables', 'ALTER TABLE app_states ENGINE = Aria', 'app_states Aria'],
    ['constraints', 'ALTER TABLE runs DROP CONSTRAINT ck_runs_status', 'CHECKs are missing: ck_runs_status'],
  ])('are red at %s after %s', async (name, statement, words) => {
    const database = await migrated();
    await root.changeUser({ database: 'bridle' });
    await root.query(statement);
    expect(reds(await check(database))).toEqual([[name, expect.stringContaining(words)]]);
  });

  it.each([
    ['packet', 'max_allowed_packet', 1024 * 1024, 'max_allowed_packet is 1048576 bytes'],
    ['keys', 'innodb_default_row_format', 'compact', 'innodb_default_row_format is compact'],
    ['writes', 'read_only', 1, 'the server is read-only'],
  ])('are red at %s when the server has %s = %s', async (name, variable, value, words) => {
    const [before] = await root.query(`SELECT @@GLOBAL.${variable} AS value`);
    await root.query(`SET GLOBAL ${variable} = ?`, [value]);
    try {
      expect(reds(await check(await open()))).toEqual([[name, expect.stringContaining(words)]]);
    } finally {
      await root.query(`SET GLOBAL ${variable} = ?`, [(before as { value: unknown }[])[0]!.value]);
    }
  });

  it('are red for a user who may not do what we do', async () => {
    await root.query("CREATE USER 'weak'@'127.0.0.1' IDENTIFIED BY 'weak'");
    await root.query("GRANT SELECT, INSERT ON bridle.* TO 'weak'@'127.0.0.1'");
    const database = await open(`${mariaDb.url.replace('bridle:bridle', 'weak:weak')}bridle`);
    expect(reds(await check(database))).toEqual([
      ['privileges', expect.stringContaining('GRANT UPDATE, DELETE, CREATE, ALTER, INDEX ON bridle.*')],
    ]);
    await root.query("DROP USER 'weak'@'127.0.0.1'");
  });

  it('are red when our clock and the server’s are a minute apart', async () => {
    const slow = { nowMs: () => Date.now() - 90_000 };
    const checks = await check(await open(), slow);
    expect(reds(checks)).toEqual([['clock', expect.stringMatching(/^the database is (89|9\d)\.\d s ahead of/)]]);
  });

  it('are red when READ COMMITTED was not set', async () => {
    const database = await open();
    await database.query('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    expect(reds(await check(database))).toEqual([['session', expect.stringContaining('REPEATABLE-READ')]]);
  });

  it('are red for the schema of a newer version', async () => {
    const database = await migrated();
    await database.query("INSERT INTO migrations (timestamp, name) VALUES (1999000000000, 'AddMore1999000000000')");
    expect(reds(await check(database))).toEqual([['schema', expect.stringContaining('AddMore1999000000000')]]);
  });

  it('refuses a statement that the server would not take, and nothing else', async () => {
    await root.query('SET GLOBAL max_allowed_packet = 1048576');
    const database = await migrated();
    await root.query('SET GLOBAL max_allowed_packet = 16777216');
    const store = (text: string): Promise<unknown> =>
      database.inTransaction((manager) =>
        manager.query('INSERT INTO app_states (tenant_id, app_name, state, version) VALUES (?, ?, ?, 0)', [
          't',
          text.slice(0, 8),
          JSON.stringify(text),
        ]),
      );
    await expect(store("'".repeat(600_000))).rejects.toMatchObject({
      reason: 'BODY_TOO_LARGE',
      message: 'the text is larger than the database takes',
    });
    await store('a'.repeat(900_000));
    expect(await database.query('SELECT app_name FROM app_states')).toEqual([{ app_name: 'aaaaaaaa' }]);
    await database.close();
  });
});
