import { createConnection } from 'mysql2/promise';
import { SystemClock } from '../../src/common/clock.js';
import { Database } from '../../src/database/database.js';
import { isRefused } from '../../src/database/database-errors.js';
import { until } from '../support/core.js';
import { databasesUnderTest, mysqlUnderTest, type DatabaseUnderTest, type TestDatabase } from '../support/databases.js';

const INSERT = 'INSERT INTO app_states (tenant_id, app_name, state, version) VALUES (?, ?, ?, 0)';
const RAISE = "UPDATE app_states SET version = version + 1 WHERE tenant_id = 't' AND app_name = ?";

function useDatabase({ create }: DatabaseUnderTest): { readonly open: Database; readonly url: string } {
  let place: TestDatabase;
  let database: Database;

  beforeEach(async () => {
    place = await create();
    database = await Database.open({ url: place.url, synchronous: 'normal', poolSize: 4 }, new SystemClock());
  });

  afterEach(async () => {
    await database.close();
    await place.drop();
  });

  return {
    get open() {
      return database;
    },
    get url() {
      return place.url;
    },
  };
}

const rejection = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'it was accepted',
    (error: unknown) => error,
  );

describe.each(databasesUnderTest())('a row that $name refuses', (kind) => {
  const database = useDatabase(kind);

  it.each([
    ['without a value that it needs', ['t', null, '{}']],
    ['with a key that exists', ['t', 'there', '{}']],
  ])('is refused for certain: one %s', async (_what, values) => {
    await database.open.inTransaction((manager) => manager.query(INSERT, ['t', 'there', '{}']));
    const error = await rejection(database.open.inTransaction((manager) => manager.query(INSERT, values)));
    expect(isRefused(error)).toBe(true);
    expect(await database.open.query('SELECT app_name FROM app_states')).toEqual([{ app_name: 'there' }]);
  });
});

describe('SQLite without room', () => {
  const database = useDatabase(databasesUnderTest()[0]!);

  it('says so, keeps nothing of the transaction and serves readers', async () => {
    const { open } = database;
    await open.inTransaction((manager) => manager.query('PRAGMA max_page_count = 80'));
    const error = await rejection(
      open.inTransaction(async (manager) => {
        await manager.query(INSERT, ['t', 'small', '{}']);
        await manager.query(INSERT, ['t', 'large', JSON.stringify('x'.repeat(1_000_000))]);
      }),
    );
    expect(error).toMatchObject({ reason: 'STORE_UNAVAILABLE', message: 'the database has no room left' });
    expect(isRefused(error)).toBe(true);
    expect(await open.query('SELECT app_name FROM app_states')).toEqual([]);
    await open.inTransaction((manager) => manager.query(INSERT, ['t', 'small', '{}']));
  });
});

describe('transactions of MySQL that meet', () => {
  const database = useDatabase(mysqlUnderTest());

  beforeEach(async () => {
    await database.open.inTransaction(async (manager) => {
      for (const name of ['a', 'b']) await manager.query(INSERT, ['t', name, '{}']);
    });
  });

  const versions = (): Promise<unknown[]> => database.open.query('SELECT version FROM app_states ORDER BY app_name');

  it('in a circle are all done, each once', async () => {
    let attempts = 0;
    const raise = (...names: readonly string[]): Promise<void> =>
      database.open.inTransaction(async (manager) => {
        attempts += 1;
        for (const name of names) {
          await manager.query(RAISE, [name]);
          await manager.query('DO SLEEP(0.05)');
        }
      });
    await Promise.all([raise('a', 'b'), raise('b', 'a')]);
    expect(await versions()).toEqual([{ version: 2 }, { version: 2 }]);
    expect(attempts).toBeGreaterThan(2);
  });

  it('wait for a lock again and then say that the database is too busy', async () => {
    const other = await createConnection(database.url);
    await other.query('START TRANSACTION');
    await other.query(RAISE, ['a']);
    let attempts = 0;
    const startedAt = performance.now();
    const error = await rejection(
      database.open.inTransaction(async (manager) => {
        attempts += 1;
        await manager.query(RAISE, ['b']);
        await manager.query(RAISE, ['a']);
      }),
    );
    expect(error).toMatchObject({ reason: 'STORE_UNAVAILABLE', message: 'the database is too busy' });
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    expect(attempts).toBeGreaterThan(1);
    await other.query('ROLLBACK');
    await other.end();
    expect(await versions()).toEqual([{ version: 0 }, { version: 0 }]);
  });

  it('are not repeated when their connection is killed: nobody knows what was kept', async () => {
    const killer = await createConnection(database.url);
    let attempts = 0;
    let isReady = false;
    const error = rejection(
      database.open.inTransaction(async (manager) => {
        attempts += 1;
        const rows = await manager.query<{ id: number }[]>('SELECT CONNECTION_ID() AS id');
        await manager.query(RAISE, ['a']);
        void killer.query(`KILL ${rows[0]!.id}`).then(() => (isReady = true));
        await manager.query('DO SLEEP(5)');
      }),
    );
    await until('it is killed', () => isReady);
    expect(await error).toMatchObject({ reason: 'STORE_UNAVAILABLE', message: 'the database does not answer' });
    await killer.end();
    expect(attempts).toBe(1);
    expect(isRefused(await error)).toBe(false);
    expect(await versions()).toEqual([{ version: 0 }, { version: 0 }]);
  });

  it('and stand still lose what they had locked; whoever wakes up in one is told', async () => {
    let isLocked = false;
    let wakeUp = (): void => undefined;
    const frozen = new Promise<void>((resolve) => (wakeUp = resolve));
    let attempts = 0;
    const sleeper = rejection(
      database.open.inTransaction(async (manager) => {
        attempts += 1;
        // the real time is too long for a test
        await manager.query('SET SESSION idle_transaction_timeout = 1');
        await manager.query(RAISE, ['a']);
        isLocked = true;
        await frozen;
        await manager.query(RAISE, ['b']);
      }),
    );
    await until('the row is locked', () => isLocked);
    await database.open.inTransaction((manager) => manager.query(RAISE, ['a']));
    wakeUp();
    expect(await sleeper).toMatchObject({ reason: 'STORE_UNAVAILABLE', message: 'the database does not answer' });
    expect(attempts).toBe(1);
    expect(await versions()).toEqual([{ version: 1 }, { version: 0 }]);
  });

  it('store no text that is too long, rather than a part of it', async () => {
    const error = await rejection(
      database.open.inTransaction((manager) => manager.query(INSERT, ['t', 'x'.repeat(129), '{}'])),
    );
    expect(error).toMatchObject({ driverError: { errno: 1406 } });
    expect(await versions()).toHaveLength(2);
  });
});
