import { createHash } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { credentials, Metadata, status, type Client, type ServiceError } from '@grpc/grpc-js';
import * as grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { Catch, Controller, Get, Module, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { GrpcMethod, Transport } from '@nestjs/microservices';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { request } from 'undici';
import type { FastifyReply } from 'fastify';
import { throwError, type Observable } from 'rxjs';
import { AuthModule } from '../../src/auth/auth.module.js';
import { Authenticator } from '../../src/auth/authenticator.js';
import { Caller } from '../../src/auth/caller.decorator.js';
import { docsGate } from '../../src/auth/docs-gate.js';
import { principalOf } from '../../src/auth/grpc-principal.js';
import type { Principal } from '../../src/auth/principal.js';
import { Public } from '../../src/auth/public.decorator.js';
import { AppError } from '../../src/common/app-error.js';
import type { Config } from '../../src/config/config.js';
import { ConfigModule } from '../../src/config/config.module.js';
import { HealthModule } from '../../src/observability/health.module.js';
import { ObservabilityModule } from '../../src/observability/observability.module.js';
import { Readiness } from '../../src/observability/readiness.js';
import { aConfig } from '../support/test-config.js';

const PROTO = `syntax = "proto3"; package test;
service Who { rpc Am (Empty) returns (Answer); }
message Empty {} message Answer { string tenant = 1; string subject = 2; }`;
const folder = mkdtempSync(join(tmpdir(), 'guard-'));
const protoPath = join(folder, 'who.proto');
let sockets = 0;
writeFileSync(protoPath, PROTO);

const named = ({ tenantId, subject }: Principal): { tenant: string; subject: string } => ({
  tenant: tenantId,
  subject,
});

@Controller()
class WhoController {
  @Get('who')
  who(@Caller() principal: Principal): object {
    return named(principal);
  }

  @Get('ping')
  @Public()
  ping(): object {
    return { ok: true };
  }

  @GrpcMethod('Who', 'Am')
  am(_: object, metadata: Metadata): object {
    return named(principalOf(metadata));
  }
}

function refuse(error: unknown, _request: unknown, reply: FastifyReply): void {
  const { http, reason } = AppError.from(error);
  void reply.code(http).send({ reason });
}

@Catch(AppError)
class PlainErrors implements ExceptionFilter {
  catch(error: AppError, host: ArgumentsHost): Observable<never> | void {
    if (host.getType() === 'rpc') return throwError(() => ({ code: status[error.code], message: error.message }));
    refuse(error, undefined, host.switchToHttp().getResponse<FastifyReply>());
  }
}

class ReadyOrNot extends Readiness {
  static reasons: readonly string[] = [];
  problems = (): readonly string[] => ReadyOrNot.reasons;
  notes = (): readonly string[] => ['runs do not survive a restart'];
}

@Module({ providers: [{ provide: Readiness, useClass: ReadyOrNot }], exports: [Readiness] })
class ReadinessModule {}

interface Running {
  readonly app: NestFastifyApplication;
  get(
    path: string,
    headers?: Record<string, string>,
    method?: 'GET' | 'POST',
  ): Promise<{ code: number; body: unknown }>;
  am(...metadata: [string, string][]): Promise<unknown>;
}

async function start(config: Config): Promise<Running> {
  const module = await Test.createTestingModule({
    imports: [ConfigModule.of(config), ObservabilityModule, AuthModule, HealthModule.with([ReadinessModule])],
    controllers: [WhoController],
    providers: [{ provide: APP_FILTER, useClass: PlainErrors }],
  }).compile();
  const app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter());
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onRequest', docsGate(config, app.get(Authenticator), refuse));
  for (const path of ['/docs', '/docs/static/:file', '/openapi.json', '/docsy']) {
    fastify.get(path, () => ({ documentation: true }));
  }
  const packageDefinition = loadSync(protoPath);
  const url = `unix:${join(folder, `${(sockets += 1)}.sock`)}`;
  app.connectMicroservice(
    { transport: Transport.GRPC, options: { package: 'test', packageDefinition, url } },
    { inheritAppConfig: true },
  );
  await app.startAllMicroservices();
  await app.listen(0, '127.0.0.1');
  const base = (await app.getUrl()).replace('[::1]', '127.0.0.1');
  const { Who } = (grpc.loadPackageDefinition(packageDefinition) as unknown as { test: { Who: typeof Client } }).test;
  const client = new Who(url, credentials.createInsecure()) as Client & {
    Am(request: object, metadata: Metadata, done: (error: ServiceError | null, answer: unknown) => void): void;
  };
  app.getHttpServer().on('close', () => client.close());
  return {
    app,
    async get(path, headers = {}) {
      const answer = await request(base + path, { headers });
      const text = await answer.body.text();
      return { code: answer.statusCode, body: text.startsWith('{') ? (JSON.parse(text) as unknown) : text };
    },
    am: (...pairs) =>
      new Promise((resolve, reject) => {
        const metadata = new Metadata();
        for (const [name, value] of pairs) metadata.add(name, value);
        client.Am({}, metadata, (error, answer) => (error ? reject(error) : resolve(answer)));
      }),
  };
}

const keyVariables = (names: readonly string[], host: string): Record<string, string> => ({
  BRIDLE_SERVER_HOST: host,
  BRIDLE_AUTH_MODE: 'key',
  BRIDLE_LOG_LEVEL: 'silent',
  BRIDLE_AUTH_KEYS: names
    .map((name) => `${name}:${createHash('sha256').update(`key-${name}`).digest('hex')}:tenant-${name}:user-${name}`)
    .join(','),
});

const as = (name: string): Record<string, string> => ({ authorization: `Bearer key-${name}` });
const REFUSED = { code: 401, body: { reason: 'UNAUTHENTICATED' } };
const ANN = { tenant: 'tenant-ann', subject: 'user-ann' };

describe('in mode key, reachable from outside', () => {
  let server: Running;
  beforeAll(async () => void (server = await start(aConfig(keyVariables(['ann', 'bob'], '0.0.0.0')))));
  afterAll(() => server.app.close());

  it('lets a key in over HTTP, by either header', async () => {
    expect(await server.get('/who', as('ann'))).toEqual({ code: 200, body: ANN });
    expect(await server.get('/who', { 'x-api-key': 'key-ann' })).toEqual({ code: 200, body: ANN });
  });

  it('lets nobody else in', async () => {
    for (const headers of [{}, as('eve'), { authorization: 'Basic key-ann' }, { 'x-api-key': 'eve' }]) {
      expect(await server.get('/who', headers)).toEqual(REFUSED);
    }
  });

  it('asks gRPC callers too', async () => {
    expect(await server.am(['authorization', 'Bearer key-ann'])).toEqual(ANN);
    expect(await server.am(['x-api-key', 'key-ann'])).toEqual(ANN);
    const refusals: [string, string][][] = [
      [],
      [['authorization', 'Bearer key-eve']],
      [['authorization', 'key-ann']],
      [
        ['x-api-key', 'key-ann'],
        ['x-api-key', 'key-bob'],
      ],
    ];
    for (const pairs of refusals)
      await expect(server.am(...pairs)).rejects.toMatchObject({ code: status.UNAUTHENTICATED });
  });

  it('does not mix up callers that come at once', async () => {
    const names = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? 'ann' : 'bob'));
    const http = await Promise.all(names.map((name) => server.get('/who', as(name))));
    const rpc = await Promise.all(names.map((name) => server.am(['authorization', `Bearer key-${name}`])));
    expect(http.map(({ body }) => (body as { subject: string }).subject)).toEqual(names.map((name) => `user-${name}`));
    expect(rpc.map((answer) => (answer as { subject: string }).subject)).toEqual(names.map((name) => `user-${name}`));
  });

  it('leaves public routes and probes open', async () => {
    expect(await server.get('/ping')).toEqual({ code: 200, body: { ok: true } });
    expect(await server.get('/livez')).toEqual({ code: 200, body: { status: 'ok' } });
    expect((await server.get('/readyz')).code).toBe(200);
  });

  it('guards metrics and documentation', async () => {
    for (const path of ['/metrics', '/docs', '/%64ocs', '/docs/static/index.css', '/openapi.json', '/docs?x=1']) {
      expect(await server.get(path)).toEqual(REFUSED);
      expect((await server.get(path, as('ann'))).code).toBe(200);
    }
    expect((await server.get('/docsy')).code).toBe(200);
  });
});

describe('in mode key, on loopback', () => {
  let server: Running;
  beforeAll(async () => void (server = await start(aConfig(keyVariables(['bob'], '127.0.0.1')))));
  afterAll(() => server.app.close());

  it('knows its own keys only, whatever another server of the process knows', async () => {
    const other = await start(aConfig(keyVariables(['ann'], '127.0.0.1')));
    try {
      expect((await server.get('/who', as('bob'))).code).toBe(200);
      expect(await server.get('/who', as('ann'))).toEqual(REFUSED);
      expect((await other.get('/who', as('ann'))).code).toBe(200);
      expect(await other.get('/who', as('bob'))).toEqual(REFUSED);
    } finally {
      await other.app.close();
    }
  });

  it('shows metrics and documentation to everybody on the machine', async () => {
    const metrics = await server.get('/metrics');
    expect(metrics.code).toBe(200);
    expect(metrics.body).toContain('bridle_queue_depth 0');
    expect((await server.get('/docs')).code).toBe(200);
  });
});

describe('in mode none', () => {
  let server: Running;
  beforeAll(async () => void (server = await start(aConfig({ BRIDLE_LOG_LEVEL: 'silent' }))));
  afterAll(() => server.app.close());

  it('takes everybody, over HTTP and gRPC, for the local user', async () => {
    const local = { tenant: 'default', subject: 'local' };
    expect(await server.get('/who')).toEqual({ code: 200, body: local });
    expect(await server.get('/who', as('eve'))).toEqual({ code: 200, body: local });
    expect(await server.am()).toEqual(local);
  });

  it('says in /readyz why it takes no work, and what to know when it does', async () => {
    expect(await server.get('/readyz')).toEqual({
      code: 200,
      body: { status: 'ready', notes: ['runs do not survive a restart'] },
    });
    ReadyOrNot.reasons = ['draining'];
    expect(await server.get('/readyz')).toEqual({
      code: 503,
      body: { status: 'unavailable', problems: ['draining'], notes: ['runs do not survive a restart'] },
    });
    ReadyOrNot.reasons = [];
  });
});
