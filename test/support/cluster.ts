import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mysqlUnderTest, type TestDatabase } from './databases.js';
import { startServer, type ServerOptions, type TestServer } from './server.js';

/** Leases so short that a test can wait for their end. */
export const QUICK_LEASES = {
  BRIDLE_RUNS_LEASE_MS: '2000',
  BRIDLE_RUNS_HEARTBEAT_MS: '500',
  BRIDLE_RUNS_REAPER_MS: '300',
};

/** Several servers on one database and one storage directory, as a team would run them. */
export interface Cluster {
  readonly servers: readonly TestServer[];
  /** As the key `database.url` takes it. */
  readonly databaseUrl: string;
  /** One more server beside the others. */
  add(env?: ServerOptions['env']): Promise<TestServer>;
  /** Ends every server that still runs and removes rows and files. Call it in `afterEach`. */
  dispose(): Promise<void>;
}

export interface ClusterOptions {
  /** Laid over the environment of every server. */
  readonly env?: ServerOptions['env'];
  /** Laid over that, by position from 0: roles, ports. */
  readonly envOf?: (index: number) => ServerOptions['env'];
  /** Instead of a new schema on the server of `BRIDLE_TEST_MYSQL_URL`; it is the caller's to remove. */
  readonly databaseUrl?: string;
}

/**
 * Starts `count` servers at once on one MySQL or MariaDB schema of their own.
 * @throws Error when `BRIDLE_TEST_MYSQL_URL` names no server: `npm test` starts one
 */
export async function startCluster(count: number, options: ClusterOptions = {}): Promise<Cluster> {
  const storageDir = mkdtempSync(join(tmpdir(), 'bridle-cluster-'));
  const database = options.databaseUrl === undefined ? await mysqlUnderTest().create() : undefined;
  const cluster = new ServerCluster(storageDir, options.databaseUrl ?? database!.url, database, options);
  try {
    await Promise.all(Array.from({ length: count }, () => cluster.add()));
  } catch (error) {
    await cluster.dispose();
    throw error;
  }
  return cluster;
}

class ServerCluster implements Cluster {
  readonly servers: TestServer[] = [];
  private added = 0;

  constructor(
    private readonly storageDir: string,
    readonly databaseUrl: string,
    private readonly database: TestDatabase | undefined,
    private readonly options: ClusterOptions,
  ) {}

  async add(env: ServerOptions['env'] = {}): Promise<TestServer> {
    const index = this.added;
    this.added += 1;
    const server = await startServer({
      storageDir: this.storageDir,
      env: {
        BRIDLE_DATABASE_URL: this.databaseUrl,
        ...this.options.env,
        ...this.options.envOf?.(index),
        ...env,
      },
    });
    this.servers[index] = server;
    return server;
  }

  async dispose(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.dispose()));
    await this.database?.drop();
    rmSync(this.storageDir, { recursive: true, force: true });
  }
}
