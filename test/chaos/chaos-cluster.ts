import { createConnection } from 'mysql2/promise';
import { startMariaDb, type MariaDb } from '../../scripts/lib/mariadb.mjs';
import { startCluster } from '../support/cluster.js';
import { mysqlAt } from '../support/databases.js';
import type { ServerOptions, TestServer } from '../support/server.js';

/** Several servers on a MariaDB of their own, which a scenario may kill, hold and start again. */
export interface ChaosCluster {
  readonly servers: readonly TestServer[];
  readonly mariaDb: MariaDb;
  /** Where all servers keep their files. */
  readonly storageDir: string;
  /** Reads rows past the product. */
  rows<Row>(sql: string): Promise<Row[]>;
  /** Ends every process and removes all data. */
  dispose(): Promise<void>;
}

/** @param env laid over the environment of every server */
export async function startChaosCluster(count: number, env: ServerOptions['env'] = {}): Promise<ChaosCluster> {
  // 2: what was committed survives the end of the database's process
  const mariaDb = await startMariaDb({ flushAtCommit: 2 });
  try {
    const { url } = await mysqlAt(mariaDb.url).create();
    const cluster = await startCluster(count, { databaseUrl: url, env: { BRIDLE_LOG_FORMAT: 'json', ...env } });
    return {
      servers: cluster.servers,
      mariaDb,
      storageDir: cluster.servers[0]!.storageDir,
      rows: async <Row>(sql: string) => {
        const connection = await createConnection(url);
        try {
          return (await connection.query(sql))[0] as Row[];
        } finally {
          connection.destroy();
        }
      },
      dispose: async () => {
        await cluster.dispose();
        await mariaDb.stop();
      },
    };
  } catch (error) {
    await mariaDb.stop();
    throw error;
  }
}

/** How many writes this process refused since its start because their lease was void. */
export async function fencedWritesOf(server: TestServer): Promise<number> {
  return metricOf(server, 'bridle_fenced_writes_total');
}

export async function queueDepthOf(server: TestServer): Promise<number> {
  return metricOf(server, 'bridle_queue_depth');
}

async function metricOf(server: TestServer, name: string): Promise<number> {
  const response = await fetch(`${server.http}/metrics`, { signal: AbortSignal.timeout(10_000) });
  const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(await response.text())?.[1];
  if (value === undefined) throw new Error(`no metric ${name}`);
  return Number(value);
}
