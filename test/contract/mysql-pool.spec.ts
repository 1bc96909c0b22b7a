import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from 'mysql2';
import { createConnection } from 'mysql2/promise';
import type { DataSource } from 'typeorm';
import { startMariaDb, type MariaDb } from '../../scripts/lib/mariadb.mjs';
import { SystemClock } from '../../src/common/clock.js';
import { mysqlSource } from '../../src/database/data-sources.js';
import { Database } from '../../src/database/database.js';
import { MysqlPool } from '../../src/database/mysql-pool.js';
import { openMysqlConnection } from '../../src/database/mysql-session.js';
import { until } from '../support/core.js';
import { mysqlUnderTest, type TestDatabase } from '../support/databases.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';

const TIMEOUT_MS = 1500;
const UNAVAILABLE = { reason: 'STORE_UNAVAILABLE', http: 503, retryable: true, retryAfterMs: 1000 };

async function execute(url: string, ...statements: readonly string[]): Promise<void> {
  const connection = await createConnection(url);
  for (const sql of statements) await connection.query(sql);
  await connection.end();
}

/** The outcome of work, and how long it took. */
async function timed(work: Promise<unknown>): Promise<{ outcome: unknown; ms: number }> {
  const startedAt = performance.now();
  const outcome = await work.catch((error: unknown) => error);
  return { outcome, ms: performance.now() - startedAt };
}

describe('what a connection says of itself', () => {
  const HOSTILE = [
    'SET GLOBAL TRANSACTION ISOLATION LEVEL REPEATABLE READ',
    "SET GLOBAL time_zone = '+05:30'",
    "SET GLOBAL sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'",
    'SET GLOBAL check_constraint_checks = 0',
    'SET GLOBAL autocommit = 0',
    'SET GLOBAL innodb_lock_wait_timeout = 600',
    'SET GLOBAL character_set_server = latin1',
  ];
  const FACTS = `SELECT @@tx_isolation AS isolation, @@time_zone AS zone, @@sql_mode AS mode, @@autocommit AS autocommit,
    @@check_constraint_checks AS checks, @@innodb_lock_wait_timeout AS row_lock_s, @@wait_timeout AS idle_s,
    @@idle_transaction_timeout AS idle_transaction_s, @@max_statement_time AS statement_s, @@character_set_client AS client, @@character_set_results AS results,
    @@collation_connection AS collation`;
  const WANTED = {
    isolation: 'READ-COMMITTED',
    zone: '+00:00',
    mode: 'ONLY_FULL_GROUP_BY,STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION',
    autocommit: 1,
    checks: 1,
    row_lock_s: 3,
    idle_s: 60,
    idle_transaction_s: 20,
    statement_s: 10,
    client: 'utf8mb4',
    results: 'utf8mb4',
    collation: 'utf8mb4_bin',
  };
  let mariaDb: MariaDb;
  let url: string;

  beforeAll(async () => {
    mariaDb = await startMariaDb();
    url = `${mariaDb.url}bridle`;
    await execute(mariaDb.url, 'CREATE DATABASE bridle CHARACTER SET utf8mb4 COLLATE utf8mb4_bin', ...HOSTILE);
  }, 120_000);
  afterAll(() => mariaDb.stop());

  it('is ours on every connection of the pool, and on the ones that follow them', async () => {
    const source = await mysqlSource(url, { poolSize: 3, timeoutMs: 10_000 }).initialize();
    const all = (): Promise<unknown[]> =>
      Promise.all(
        Array.from({ length: 3 }, () => source.query<{ id: number }[]>(`${FACTS}, CONNECTION_ID() AS id, SLEEP(0.1)`)),
      );
    const before = (await all()).flat() as { id: number }[];
    expect(new Set(before.map(({ id }) => id)).size).toBe(3);
    expect(before).toEqual(Array.from({ length: 3 }, () => expect.objectContaining(WANTED)));
    await execute(url, ...before.map(({ id }) => `KILL ${id}`));
    await sleep(50);
    const after = (await all()).flat() as { id: number }[];
    expect(after).toEqual(Array.from({ length: 3 }, () => expect.objectContaining(WANTED)));
    expect(after.filter(({ id }) => before.some((old) => old.id === id))).toEqual([]);
    await source.destroy();
  });

  it('is ours on a connection beside the pool', async () => {
    const connection = await openMysqlConnection(url);
    const rows = await new Promise((resolve) => connection.query(FACTS, (_error, found) => resolve(found)));
    connection.destroy();
    expect(rows).toEqual([WANTED]);
  });

  it('keeps a text a text, whatever the server makes of a backslash', async () => {
    const source = await mysqlSource(url, { poolSize: 1, timeoutMs: 10_000 }).initialize();
    const text = "\\' OR 1 = 1 -- \\";
    expect(await source.query('SELECT ? AS value', [text])).toEqual([{ value: text }]);
    await source.destroy();
  });

  it('lets a CHECK bite although the server switched it off', async () => {
    const database = await Database.open({ url, synchronous: 'full', poolSize: 2 }, new SystemClock());
    const closing = database.inTransaction((manager) =>
      manager.query(
        `INSERT INTO sessions (id, tenant_id, app_name, user_id, external_id, state, capabilities, status, created_at,
           updated_at) VALUES ('s', 't', 'a', 'u', 's', '{}', '[]', 'gone', 1, 1)`,
      ),
    );
    await expect(closing).rejects.toThrow(/ck_sessions_status/);
    await database.close();
  });
});

describe('the pool of connections', () => {
  let place: TestDatabase;
  let proxy: TcpProxy;
  let url: string;
  let database: Database;

  beforeEach(async () => {
    place = await mysqlUnderTest().create();
    proxy = await startTcpProxy(Number(new URL(place.url).port));
    const through = new URL(place.url);
    through.port = String(proxy.port);
    through.hostname = '127.0.0.1';
    url = through.href;
    database = await Database.connect(
      { url, synchronous: 'full', poolSize: 2, timeoutMs: TIMEOUT_MS },
      new SystemClock(),
    );
  });

  afterEach(async () => {
    await proxy.close();
    await database.close();
    await place.drop();
  });

  const one = (): Promise<unknown> => database.query('SELECT 1 AS one');

  it('has as many connections as it may have, and no more', async () => {
    const slow = (): Promise<{ id: number }[]> => database.query('SELECT CONNECTION_ID() AS id, SLEEP(0.05)');
    const ids = (await Promise.all(Array.from({ length: 8 }, slow))).flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
  });

  it('tells who waits too long for a free connection, and serves again when one is free', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let holding = 0;
    const holders = [1, 2].map(() =>
      database.inTransaction(async (manager) => {
        await manager.query('SELECT 1');
        holding += 1;
        await held;
      }),
    );
    await until('both connections are held', () => holding === 2);
    const { outcome, ms } = await timed(one());
    expect(outcome).toMatchObject(UNAVAILABLE);
    expect(ms).toBeLessThan(TIMEOUT_MS * 3);
    release();
    await Promise.all(holders);
    expect(await one()).toEqual([{ one: 1 }]);
  });

  it('gives up on a server that falls silent, inside a transaction too, and finds its way back', async () => {
    await one();
    proxy.loseNew();
    const works = [one, () => database.inTransaction((manager) => manager.query('SELECT 1'))];
    const running = works.map((work) => timed(work()));
    proxy.lose();
    for (const { outcome, ms } of await Promise.all(running)) {
      expect(outcome).toMatchObject(UNAVAILABLE);
      expect(ms).toBeLessThan(TIMEOUT_MS * 5);
    }
    const waiting = await Promise.all(Array.from({ length: 10 }, () => timed(one())));
    expect(waiting.map(({ outcome }) => outcome)).toEqual(
      Array.from({ length: 10 }, () => expect.objectContaining(UNAVAILABLE)),
    );
    proxy.heal();
    proxy.lose();
    const deadlineMs = performance.now() + 20_000;
    while ((await one().catch(() => undefined)) === undefined && performance.now() < deadlineMs) await sleep(50);
    expect(await one()).toEqual([{ one: 1 }]);
  });

  it('survives that its resting connections are killed, and the next statement does not notice', async () => {
    const rows = await Promise.all(
      [1, 2].map(() => database.query<{ id: number }>('SELECT CONNECTION_ID() AS id, SLEEP(0.05)')),
    );
    await execute(place.url, ...rows.flat().map(({ id }) => `KILL ${id}`));
    await sleep(50);
    expect(await one()).toEqual([{ one: 1 }]);
  });

  it('ends without a fault when its server goes away in the middle of a connect', async () => {
    proxy.loseNew();
    const pool = new MysqlPool(url, { poolSize: 1, timeoutMs: TIMEOUT_MS });
    pool.getConnection(() => undefined);
    await sleep(50);
    const ended = new Promise<void>((resolve) => pool.end(resolve));
    await proxy.close();
    await expect(ended).resolves.toBeUndefined();
  });

  it('is refused at once by a server that is gone', async () => {
    await proxy.close();
    await sleep(20);
    const { outcome, ms } = await timed(one());
    expect(outcome).toMatchObject(UNAVAILABLE);
    expect(ms).toBeLessThan(TIMEOUT_MS);
  });
});

describe('a connection that rested', () => {
  let place: TestDatabase;
  let proxy: TcpProxy;
  let source: DataSource;

  beforeEach(async () => {
    place = await mysqlUnderTest().create();
    proxy = await startTcpProxy(Number(new URL(place.url).port));
    const through = new URL(place.url);
    through.port = String(proxy.port);
    source = await mysqlSource(through.href, { poolSize: 3, timeoutMs: 5000, trustedMs: 20 }).initialize();
    await Promise.all([1, 2, 3].map(() => source.query('SELECT SLEEP(0.05)')));
  });

  afterEach(async () => {
    await proxy.close();
    await source.destroy();
    await place.drop();
  });

  it('is used again when it lives', async () => {
    await sleep(50);
    await source.query('SELECT 1');
    expect(proxy.made).toBe(3);
  });

  it('and its neighbours are replaced when it was lost, and the statement does not notice', async () => {
    proxy.lose();
    await sleep(50);
    const { outcome, ms } = await timed(source.query('SELECT 1 AS one'));
    expect(outcome).toEqual([{ one: 1 }]);
    // one was asked in vain; the others, which rested longer, were not asked
    expect(ms).toBeLessThan(2500);
    await Promise.all([1, 2, 3].map(() => source.query('SELECT SLEEP(0.05)')));
    expect(proxy.made).toBe(6);
  });
});

/** Beside the pool, an error between two statements must not end the process. */
describe('a connection beside the pool', () => {
  it('tells by its next statement that it was killed', async () => {
    const place = await mysqlUnderTest().create();
    const connection: Connection = await openMysqlConnection(place.url);
    await execute(place.url, `KILL ${connection.threadId}`);
    await sleep(50);
    const error = await new Promise((resolve) => connection.query('SELECT 1', resolve));
    await place.drop();
    expect(error).toMatchObject({ fatal: true });
  });
});
