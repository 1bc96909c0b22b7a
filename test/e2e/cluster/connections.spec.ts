import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection, type Connection } from 'mysql2/promise';
import { PAIR_COUNTS } from '../../support/process-counts.js';
import { atOnce, propertyRuns } from '../../support/property-runs.js';
import { severalServers, type Replicas } from '../../support/replicas.js';
import { openSse } from '../../support/sse-client.js';
import { pathOf, upTo, type Answer } from '../../support/v1-client.js';

const LONG_MS = 120_000;
const POOL_SIZE = 4;
/** Beside the pool, the connection of the thread that renews leases. */
const CONNECTIONS = POOL_SIZE + 1;

/** C25: a caller who leaves, or who only waits, has no connection of the pool. */
describe.each(PAIR_COUNTS)('C25 few connections, in %d processes', (count) => {
  let replicas: Replicas;
  let connection: Connection;

  beforeAll(async () => {
    const env = { BRIDLE_DATABASE_POOL_SIZE: String(POOL_SIZE), BRIDLE_DATABASE_TIMEOUT_MS: '2000' };
    replicas = await severalServers(count, { env });
    connection = await createConnection(replicas.databaseUrl!);
  }, LONG_MS);

  afterAll(async () => {
    await connection.end();
    await replicas.dispose();
  });

  const list = (index: number): Promise<Answer> => replicas.v1(index).call('GET', '/v1/sessions?limit=20');

  /** The four lists take at once; the best of some tries, because the machine has other work too. */
  async function quickestListsMs(): Promise<number> {
    const times: number[] = [];
    for (let round = 0; round < 8; round += 1) {
      const startMs = performance.now();
      const answers = await Promise.all(upTo(4).map(() => list(0)));
      times.push(performance.now() - startMs);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    }
    return Math.min(...times);
  }

  /** Connections of the servers, and those of them that have been inside a transaction for more than a second. */
  async function connections(): Promise<{ all: number; held: number }> {
    const [rows] = await connection.query(
      `SELECT COUNT(*) AS all_of_them, COUNT(t.trx_id) AS held FROM information_schema.processlist AS p
       LEFT JOIN information_schema.innodb_trx AS t
         ON t.trx_mysql_thread_id = p.id AND t.trx_started < NOW() - INTERVAL 1 SECOND
       WHERE p.db = DATABASE() AND p.id <> CONNECTION_ID()`,
    );
    const [row] = rows as { all_of_them: number; held: number }[];
    return { all: Number(row!.all_of_them), held: Number(row!.held) };
  }

  const gauge = async (index: number, name: string): Promise<string | undefined> => {
    const { body } = await replicas.v1(index).call('GET', '/metrics');
    return new RegExp(`^${name} (\\d+)$`, 'm').exec(body as string)?.[1];
  };

  it(
    'none is lost with callers who hang up at any moment',
    async () => {
      const adks = upTo(count).map((index) => replicas.adk(index));
      const sessions = await Promise.all(upTo(20).map((n) => adks[n % count]!.session(`gone-${n}`)));
      await atOnce(propertyRuns(200), 20, async (n) => {
        const body = {
          appName: 'harness_agent',
          userId: 'u1',
          sessionId: sessions[n % sessions.length],
          newMessage: { parts: [{ text: 'say:a;tool:t:150;stream:10:10' }] },
        };
        const init = {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
          signal: AbortSignal.timeout(Math.floor(Math.random() * 300)),
        };
        const read = async (): Promise<unknown> => (await fetch(`${replicas.server(n).http}/run_sse`, init)).text();
        await read().catch(() => undefined);
      });
      expect(await quickestListsMs()).toBeLessThan(200);
      for (const index of upTo(count)) {
        const deadlineMs = Date.now() + 30_000;
        const rest = async (): Promise<unknown> => [
          await gauge(index, 'bridle_queue_depth'),
          await gauge(index, 'bridle_open_observers'),
        ];
        while (String(await rest()) !== '0,0' && Date.now() < deadlineMs) await sleep(100);
        expect(await rest()).toEqual(['0', '0']);
      }
      const { all, held } = await connections();
      expect(held).toBe(0);
      expect(all).toBeLessThanOrEqual(CONNECTIONS * count);
    },
    LONG_MS,
  );

  it(
    'none is held for a tool that works or for fifty callers who listen',
    async () => {
      const v1 = replicas.v1(0);
      const run = await v1.send(await v1.session(), 'tool:long:60000');
      await v1.until(run, (state) => state.code === 'CALLING_TOOL');
      const leaving = new AbortController();
      const listening = await Promise.all(
        upTo(50).map((n) => openSse(`${replicas.server(n).http}${pathOf(run)}/events`, { signal: leaving.signal })),
      );
      await sleep(1500);
      expect(listening).toHaveLength(50);
      const { all, held } = await connections();
      expect(held).toBe(0);
      expect(all).toBeLessThanOrEqual(CONNECTIONS * count);
      expect(await quickestListsMs()).toBeLessThan(200);
      leaving.abort();
      await v1.cancel(run.sessionId);
      expect((await v1.ended(run)).status).toBe('cancelled');
    },
    LONG_MS,
  );

  it(
    'a caller whom none is left for is told to come again, and is served when one is',
    async () => {
      await connection.query('LOCK TABLES sessions WRITE');
      const startMs = performance.now();
      const refused = await Promise.all(upTo(3 * POOL_SIZE).map(() => list(0)));
      const waitedMs = performance.now() - startMs;
      await connection.query('UNLOCK TABLES');
      expect(waitedMs).toBeLessThan(15_000);
      for (const { status, headers, body } of refused) {
        expect({ status, code: body.error.code as string }).toEqual({ status: 503, code: 'STORE_UNAVAILABLE' });
        expect(headers.get('retry-after')).toBe('1');
      }
      expect((await list(0)).status).toBe(200);
    },
    LONG_MS,
  );
});
