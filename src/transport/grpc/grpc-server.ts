import { fileURLToPath } from 'node:url';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { Injectable } from '@nestjs/common';
import { ServerGrpc } from '@nestjs/microservices';
import { CallAccess } from '../../auth/call-access.service.js';
import { Config } from '../../config/config.js';
import { isLoopbackHost } from '../../config/loopback.js';
import { earlyAuth } from './early-auth.js';
import { GrpcHealth } from './grpc-health.js';
import { GRPC_PACKAGE, serviceDefinition } from './service-definition.js';
import { statusNames } from './status-names.js';

/** How long a stop waits for the last bytes of ended streams; a client that does not read gets no more. */
const FLUSH_MS = 500;

/** The same folder seen from `src` and from `dist`. */
const PROTO_ROOT = fileURLToPath(new URL('../../../proto', import.meta.url));

/**
 * Nest's gRPC server with our limits, health and reflection. It is a strategy, because only so it can tell which
 * port the system gave it:
 * `app.connectMicroservice({ strategy: app.get(GrpcServer) }, { inheritAppConfig: true })`.
 */
@Injectable()
export class GrpcServer extends ServerGrpc {
  private port = 0;
  private server: Server | undefined;

  constructor(
    private readonly config: Config,
    private readonly health: GrpcHealth,
    private readonly access: CallAccess,
  ) {
    super({ package: GRPC_PACKAGE, packageDefinition: serviceDefinition() });
  }

  /** `host:port` once the server listens. */
  get address(): string {
    const { host } = this.config.server;
    return `${host.includes(':') ? `[${host}]` : host}:${this.port}`;
  }

  /** @throws Error when the port is taken */
  override async createClient(): Promise<Server> {
    const server = new Server({
      interceptors: [statusNames, earlyAuth(this.access, isLoopbackHost(this.config.server.host))],
      'grpc.max_receive_message_length': this.config.grpc.maxReceiveBytes,
      // A stream may be silent for hours. Proxies count these pings as life; who does not answer within 20 s is gone.
      'grpc.keepalive_time_ms': this.config.events.pingMs,
    });
    this.health.addTo(server);
    reflection().addToServer(server);
    this.port = this.config.server.grpcPort;
    this.port = await bind(server, this.address);
    this.server = server;
    return server;
  }

  /** Lets calls that have ended tell their status, then cuts what is left. */
  override async close(): Promise<void> {
    if (this.server) await flush(this.server);
    await super.close();
  }
}

function bind(server: Server, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    );
  });
}

function flush(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, FLUSH_MS);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function reflection(): ReflectionService {
  // Without keepCase it would publish camelCase names, and clients refuse the real ones.
  return new ReflectionService(
    loadSync('harness/v1/agent_harness.proto', { keepCase: true, includeDirs: [PROTO_ROOT] }),
  );
}
