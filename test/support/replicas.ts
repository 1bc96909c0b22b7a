import { AdkClient } from './adk-client.js';
import { GrpcTestClient } from './grpc-client.js';
import { startServer, type ServerOptions, type TestServer } from './server.js';
import { startCluster, type ClusterOptions } from './cluster.js';
import { V1Client } from './v1-client.js';

/**
 * The servers that a case talks to: several on one database, or one that stands for all of them, the other replica
 * being the same server after a restart.
 */
export class Replicas {
  private readonly clients: readonly V1Client[];

  constructor(
    private readonly servers: readonly TestServer[],
    /** Ends all of them and removes their data. */
    readonly dispose: () => Promise<void>,
    /** Where several servers share their rows; undefined for SQLite. */
    readonly databaseUrl?: string,
  ) {
    this.clients = servers.map((server) => new V1Client(server));
  }

  get size(): number {
    return this.servers.length;
  }

  /** Where the effects of test tools are. */
  get storageDir(): string {
    return this.server(0).storageDir;
  }

  /** Round and round: with one server every index is this one. */
  server(index: number): TestServer {
    return this.servers[index % this.servers.length]!;
  }

  /** The door `/v1` of a server, round and round. */
  v1(index: number): V1Client {
    return this.clients[index % this.clients.length]!;
  }

  /** The ADK routes of a server, round and round; asked anew after a restart, which changes the port. */
  adk(index: number): AdkClient {
    return new AdkClient(Number(new URL(this.server(index).http).port));
  }

  /** A gRPC client of a server, round and round; the caller closes it. */
  grpc(index: number): GrpcTestClient {
    return new GrpcTestClient(this.server(index).grpc);
  }

  /** Another replica than the first. */
  async elsewhere(): Promise<V1Client> {
    if (this.size === 1) {
      expect(await this.server(0).stop()).toBe(0);
      await this.server(0).restart();
    }
    return this.v1(1);
  }

  /** Ends the first server as a crash does. One that was alone is started again; of several the others go on. */
  async loseFirst(): Promise<V1Client> {
    await this.server(0).kill9();
    if (this.size === 1) await this.server(0).restart();
    return this.v1(1);
  }

  /** Starts again whatever has ended, as a supervisor does, until the work is done. */
  async supervise<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const done = work.finally(() => (isOver = true));
    const watching = this.servers.map(async (server) => {
      while (!isOver) {
        // A run may end a new process before that says that it is ready.
        if (!server.isRunning) await server.restart().catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      if (!server.isRunning) await server.restart();
    });
    const result = await done;
    await Promise.all(watching);
    return result;
  }

  /** Stops every server that still runs and starts all of them with more variables. */
  async restartAll(env: ServerOptions['env'] = {}): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
    await Promise.all(this.servers.map((server) => server.restart(env)));
  }
}

/** One server on SQLite. */
export async function oneServer(options: ServerOptions = {}): Promise<Replicas> {
  const server = await startServer(options);
  return new Replicas([server], () => server.dispose());
}

/** Several servers on one MySQL or MariaDB schema. */
export async function severalServers(count: number, options: ClusterOptions = {}): Promise<Replicas> {
  const cluster = await startCluster(count, options);
  return new Replicas(cluster.servers, () => cluster.dispose(), cluster.databaseUrl);
}
