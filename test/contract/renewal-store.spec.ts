import { createConnection, type Connection } from 'mysql2/promise';
import { RenewalStore } from '../../src/runs/renewal/renewal-store.js';
import type { Lease } from '../../src/runs/run.js';
import { aSession, submitted, until, useCore, type Core } from '../support/core.js';
import { mysqlUnderTest } from '../support/databases.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';

const HEARTBEAT_MS = 1000;

/** The one connection of a renewal thread, and what other transactions and the network do to it. */
describe('RenewalStore', () => {
  let url = '';
  const mysql = mysqlUnderTest();
  const suite = useCore({
    ...mysql,
    create: async () => {
      const place = await mysql.create();
      url = place.url;
      return place;
    },
  });
  let core: Core;
  let proxy: TcpProxy;
  let store: RenewalStore;
  let other: Connection;

  beforeEach(async () => {
    core = suite.core;
    other = await createConnection(url);
    const { hostname, port } = new URL(url);
    expect(hostname).toBe('127.0.0.1');
    proxy = await startTcpProxy(Number(port));
    const through = new URL(url);
    through.port = String(proxy.port);
    store = new RenewalStore({
      url: through.href,
      owner: core.claims.owner,
      leaseMs: 30_000,
      heartbeatMs: HEARTBEAT_MS,
      silenceMs: 60_000,
    });
  });

  afterEach(async () => {
    store.close();
    await proxy.close();
    await other.end();
  });

  const claimed = async (): Promise<Lease> => {
    await submitted(core, await aSession(core));
    const lease = (await core.claims.claimNext())!;
    await other.query('UPDATE runs SET lease_until = 1 WHERE id = ?', [lease.runId]);
    return lease;
  };
  const isRenewed = async ({ runId }: Lease): Promise<boolean> => {
    const rows = await core.database.query<{ until: unknown }>('SELECT lease_until AS until FROM runs WHERE id = ?', [
      runId,
    ]);
    return Number(rows[0]?.until) > Date.now();
  };
  const lock = async ({ runId }: Lease): Promise<void> => {
    await other.beginTransaction();
    await other.query('SELECT id FROM runs WHERE id = ? FOR UPDATE', [runId]);
  };

  it('renews over one connection, however often', async () => {
    const lease = await claimed();
    for (let n = 0; n < 3; n += 1) expect(await store.renew([lease])).toEqual([]);
    expect([await isRenewed(lease), proxy.made]).toEqual([true, 1]);
  });

  it('does not let a locked row hold the others up, and renews it as soon as it is free', async () => {
    const [locked, free] = [await claimed(), await claimed()];
    await lock(locked);
    const renewing = store.renew([locked, free]);
    await until('the free one', () => isRenewed(free));
    expect(await isRenewed(locked)).toBe(false);
    await other.commit();
    expect(await renewing).toEqual([]);
    expect(await isRenewed(locked)).toBe(true);
  });

  it('waits for a locked row for a heartbeat at most, and loses nothing by that', async () => {
    const lease = await claimed();
    await lock(lease);
    expect(await store.renew([lease])).toEqual([]);
    await other.rollback();
    expect(await isRenewed(lease)).toBe(false);
    expect(await store.renew([lease])).toEqual([]);
    expect([await isRenewed(lease), proxy.made]).toEqual([true, 1]);
  });

  it('hears of a lease that was taken while its row was locked', async () => {
    const lease = await claimed();
    await lock(lease);
    const renewing = store.renew([lease]);
    await other.query('UPDATE runs SET epoch = epoch + 1 WHERE id = ?', [lease.runId]);
    await other.commit();
    expect(await renewing).toEqual([lease]);
  });

  it('renews hundreds at once', async () => {
    const one = await claimed();
    const absent = Array.from({ length: 1001 }, (_, n) => ({ runId: `absent-${n}`, epoch: 1 }));
    expect(await store.renew([...absent, one])).toEqual(absent);
    expect(await isRenewed(one)).toBe(true);
  });

  it('makes a new connection when the server has closed an idle one, and nobody hears of it', async () => {
    const lease = await claimed();
    await store.renew([lease]);
    const [rows] = await other.query(
      'SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID() ORDER BY id DESC',
    );
    const newest = Number((rows as { id: unknown }[])[0]?.id);
    await other.query(`KILL ${newest}`);
    await other.query('UPDATE runs SET lease_until = 1 WHERE id = ?', [lease.runId]);
    expect(await store.renew([lease])).toEqual([]);
    expect([await isRenewed(lease), proxy.made]).toEqual([true, 2]);
  });

  it('says when the server answers nothing any more, and works again after it', async () => {
    const lease = await claimed();
    await store.renew([lease]);
    proxy.loseNew();
    proxy.lose();
    await expect(store.renew([lease])).rejects.toThrow();
    proxy.heal();
    await other.query('UPDATE runs SET lease_until = 1 WHERE id = ?', [lease.runId]);
    expect(await store.renew([lease])).toEqual([]);
    expect(await isRenewed(lease)).toBe(true);
  });
});
