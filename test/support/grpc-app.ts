import { Global, Module, type DynamicModule, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AuthModule } from '../../src/auth/auth.module.js';
import type { Config } from '../../src/config/config.js';
import { ConfigModule } from '../../src/config/config.module.js';
import { Logger, type LogFields } from '../../src/observability/logger.js';
import { Metrics } from '../../src/observability/metrics.js';
import { RunsService } from '../../src/runs/runs.service.js';
import { SessionsService } from '../../src/sessions/sessions.service.js';
import { GrpcServer } from '../../src/transport/grpc/grpc-server.js';
import { GrpcModule } from '../../src/transport/grpc/grpc.module.js';
import { HttpModule } from '../../src/transport/http/http.module.js';

/** Keeps what is logged. */
export class LogLines extends Logger {
  readonly lines: { readonly level: string; readonly message: string; readonly fields: LogFields }[] = [];

  debug(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'debug', message, fields });
  }
  info(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'info', message, fields });
  }
  warn(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'warn', message, fields });
  }
  error(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'error', message, fields });
  }
  child(): Logger {
    return this;
  }
}

@Global()
@Module({})
class Fakes {
  static of(sessions: Partial<SessionsService>, runs: Partial<RunsService>, log: Logger): DynamicModule {
    const providers = [
      { provide: SessionsService, useValue: sessions },
      { provide: RunsService, useValue: runs },
      { provide: Logger, useValue: log },
      Metrics,
    ];
    return { module: Fakes, providers, exports: providers };
  }
}

@Module({})
class GrpcTestApp {}

export interface RunningGrpcApp {
  readonly address: string;
  readonly app: INestApplication;
  readonly log: LogLines;
  close(): Promise<void>;
}

/** The gRPC door on a free loopback port, with the real guard, filters and limits over the given services. */
export async function startGrpcApp(
  config: Config,
  services: { readonly sessions?: Partial<SessionsService>; readonly runs?: Partial<RunsService> },
): Promise<RunningGrpcApp> {
  const log = new LogLines();
  const root: DynamicModule = {
    module: GrpcTestApp,
    imports: [
      ConfigModule.of(config),
      Fakes.of(services.sessions ?? {}, services.runs ?? {}, log),
      HttpModule.withDialects(),
      AuthModule,
      GrpcModule,
    ],
  };
  const app = await NestFactory.create(root, new FastifyAdapter(), { logger: false, abortOnError: false });
  const server = app.get(GrpcServer);
  app.connectMicroservice({ strategy: server }, { inheritAppConfig: true });
  await app.startAllMicroservices();
  return { address: server.address, app, log, close: () => app.close() };
}
