import type { EntityManager } from 'typeorm';
import { SystemClock } from '../../src/common/clock.js';
import { fromJson, toJson } from '../../src/database/columns.js';
import { Database } from '../../src/database/database.js';
import { databasesUnderTest, type TestDatabase } from '../support/databases.js';

describe.each(databasesUnderTest())('transactions on $name', ({ name, create }) => {
  let place: TestDatabase;
  let database: Database;

  beforeEach(async () => {
    place = await create();
    database = await Database.open({ url: place.url, synchronous: 'normal', poolSize: 5 }, new SystemClock());
  });

  afterEach(async () => {
    await database.close();
    await place.drop();
  });

  const INSERT = 'INSERT INTO app_states (tenant_id, app_name, state, version) VALUES (?, ?, ?, 0)';
  const versions = (): Promise<{ app_name: string; version: number }[]> =>
    database.query('SELECT app_name, version FROM app_states ORDER BY app_name');

  it('shows a reader nothing of an open transaction', async () => {
    await database.inTransaction(async (manager) => {
      await manager.query(INSERT, ['t', 'a', '{}']);
      expect(await versions()).toEqual([]);
    });
    expect(await versions()).toEqual([{ app_name: 'a', version: 0 }]);
  });

  it('takes back everything of work that fails, and nothing of its neighbours', async () => {
    const work = Array.from({ length: 50 }, (_unused, index) =>
      database.inTransaction(async (manager) => {
        await manager.query(INSERT, ['t', `a${index}`, '{}']);
        if (index % 2 === 1) throw new Error(`no ${index}`);
      }),
    );
    const outcomes = await Promise.allSettled(work);
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(25);
    const names = (await versions()).map((row) => row.app_name);
    expect(names.toSorted()).toEqual(Array.from({ length: 25 }, (_unused, index) => `a${index * 2}`).toSorted());
  });

  it('loses no update of a row that is locked before it is changed', async () => {
    await database.inTransaction((manager) => manager.query(INSERT, ['t', 'a', '{}']));
    const raise = (): Promise<void> =>
      database.inTransaction(async (manager) => {
        const rows = await manager.query<{ version: number }[]>(
          `SELECT version FROM app_states WHERE tenant_id = 't' AND app_name = 'a'${database.forUpdate}`,
        );
        await manager.query("UPDATE app_states SET version = ? WHERE tenant_id = 't' AND app_name = 'a'", [
          Number(rows[0]?.version) + 1,
        ]);
      });
    await Promise.all(Array.from({ length: 40 }, raise));
    expect(await versions()).toEqual([{ app_name: 'a', version: 40 }]);
  });

  it('gives JSON back as it was', async () => {
    const value = { text: '封面\n"quoted"\u0000', big: 9007199254740991, half: 0.5, none: null, list: [true, {}] };
    await database.inTransaction((manager) => manager.query(INSERT, ['t', 'a', toJson(value)]));
    const rows = await database.query<{ state: unknown }>('SELECT state FROM app_states');
    expect(rows.map((row) => fromJson(row.state))).toEqual([value]);
  });

  it('tells the time in milliseconds', async () => {
    const before = Date.now();
    const now = await database.inTransaction((manager) => database.nowMs(manager));
    expect(Math.abs(now - before)).toBeLessThan(60_000);
  });

  it('lets commands go before waiting batches', async () => {
    const order: string[] = [];
    const note = (what: string) => async (): Promise<void> => void order.push(what);
    await Promise.all([
      database.inTransaction(note('first'), 'batch'),
      database.inTransaction(note('batch'), 'batch'),
      database.inTransaction(note('command')),
    ]);
    // A pool runs them side by side; the one writer of SQLite has an order.
    if (name === 'sqlite') expect(order).toEqual(['command', 'first', 'batch']);
    else expect(order.toSorted()).toEqual(['batch', 'command', 'first']);
  });

  it('keeps what waited together, and nothing of the one that failed', async () => {
    const one = (manager: EntityManager, name: string): Promise<unknown> => manager.query(INSERT, ['t', name, '{}']);
    const outcomes = await Promise.allSettled([
      database.inTransaction((manager) => one(manager, 'before')),
      database.inTransaction(async (manager) => {
        await one(manager, 'broken');
        throw new Error('no');
      }),
      database.inTransaction((manager) => one(manager, 'twice')),
      database.inTransaction((manager) => one(manager, 'twice')),
      database.inTransaction((manager) => one(manager, 'after'), 'batch'),
    ]);
    const told = outcomes.map(({ status }) => status).toSorted();
    expect(told).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'rejected']);
    expect((await versions()).map((row) => row.app_name)).toEqual(['after', 'before', 'twice']);
  });
});
