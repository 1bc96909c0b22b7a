import { Module, type DynamicModule, type Provider, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AuthModule } from '../../src/auth/auth.module.js';
import { Config } from '../../src/config/config.js';
import { ConfigModule } from '../../src/config/config.module.js';
import { Logger, type LogFields } from '../../src/observability/logger.js';
import { Metrics } from '../../src/observability/metrics.js';
import type { DialectErrors } from '../../src/transport/http/dialect-errors.js';
import { createHttpAdapter, prepareHttpApp } from '../../src/transport/http/http-app.js';
import { HttpModule } from '../../src/transport/http/http.module.js';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: LogFields;
}

/** Keeps every line. */
export class CollectingLogger extends Logger {
  readonly lines: LogLine[] = [];

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

@Module({})
class TestModule {}

export interface HttpAppOptions {
  readonly config: Config;
  readonly dialects: readonly Type<DialectErrors>[];
  readonly controllers: readonly Type[];
  readonly providers?: readonly Provider[];
  /** Called before the application listens. */
  readonly prepare?: (app: NestFastifyApplication) => void | Promise<void>;
}

export interface HttpApp {
  readonly app: NestFastifyApplication;
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly port: number;
  readonly logger: CollectingLogger;
  close(): Promise<void>;
}

/** Boots the real HTTP stack, guards and filters included, on a free port of the loopback. */
export async function bootHttp(options: HttpAppOptions): Promise<HttpApp> {
  const logger = new CollectingLogger();
  const { config } = options;
  const foundation: DynamicModule = {
    module: class Foundation {},
    global: true,
    providers: [{ provide: Logger, useValue: logger }, Metrics],
    exports: [Logger, Metrics],
  };
  const root: DynamicModule = {
    module: TestModule,
    imports: [ConfigModule.of(config), foundation, AuthModule, HttpModule.withDialects(...options.dialects)],
    controllers: [...options.controllers],
    providers: [...(options.providers ?? [])],
  };
  const app = await NestFactory.create<NestFastifyApplication>(root, createHttpAdapter(config), {
    bodyParser: false,
    logger: false,
    abortOnError: false,
  });
  await prepareHttpApp(app, config);
  await options.prepare?.(app);
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as { port: number };
  return { app, url: `http://127.0.0.1:${port}`, port, logger, close: () => app.close() };
}
