import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from '../app.module.js';
import { Authenticator } from '../auth/authenticator.js';
import { docsGate } from '../auth/docs-gate.js';
import type { Config } from '../config/config.js';
import type { Database } from '../database/database.js';
import { PRODUCT_VERSION } from '../config/product-version.js';
import { Logger } from '../observability/logger.js';
import { NestLogger } from '../observability/nest-logger.js';
import { RunsModule } from '../runs/runs.module.js';
import { adkUrl } from '../transport/adk/adk-url.js';
import { GrpcServer } from '../transport/grpc/grpc-server.js';
import { RUN_SSE_OPERATION, RUN_SSE_SCHEMAS } from '../transport/adk/run-sse.openapi.js';
import { createHttpAdapter, prepareHttpApp } from '../transport/http/http-app.js';
import { ErrorFilter } from '../transport/http/error.filter.js';
import { serveDocs } from '../transport/rest/openapi.js';
import type { ServerState } from './server-state.js';

export interface RunningServer {
  readonly app: NestFastifyApplication;
  /** `http://host:port` */
  readonly http: string;
  /** `host:port`; undefined for a worker. */
  readonly grpc: string | undefined;
}

/** Builds the application; nothing listens or works yet. */
export async function createApp(
  config: Config,
  database: Database,
  state: ServerState,
): Promise<NestFastifyApplication> {
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.of(config, database, state),
    createHttpAdapter(config, adkUrl),
    // What fails here is said once, by whoever started the process.
    { bodyParser: false, logger: false, abortOnError: false },
  );
  app.useLogger(new NestLogger(app.get(Logger)));
  return app;
}

/** Listens on both doors, then starts the worker. */
export async function listen(app: NestFastifyApplication, config: Config): Promise<RunningServer> {
  await prepareHttpApp(app, config);
  const hasDoors = config.server.role !== 'worker';
  if (hasDoors) {
    app.connectMicroservice({ strategy: app.get(GrpcServer, { strict: false }) }, { inheritAppConfig: true });
    if (config.docs.enabled) addDocs(app, config);
    await app.startAllMicroservices();
  }
  await app.listen(config.server.httpPort, config.server.host);
  await app.get(RunsModule).startWork();
  const grpc = hasDoors ? app.get(GrpcServer, { strict: false }).address : undefined;
  return { app, http: await app.getUrl(), grpc };
}

function addDocs(app: NestFastifyApplication, config: Config): void {
  const errors = app.get(ErrorFilter, { strict: false });
  const gate = docsGate(config, app.get(Authenticator, { strict: false }), (error, request, reply) =>
    errors.answer(error, request, reply),
  );
  app.getHttpAdapter().getInstance().addHook('onRequest', gate);
  serveDocs(app, config, {
    version: PRODUCT_VERSION,
    schemas: RUN_SSE_SCHEMAS,
    operations: { '/run_sse': { post: RUN_SSE_OPERATION } },
  });
}
