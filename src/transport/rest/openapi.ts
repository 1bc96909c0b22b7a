import type { AddressInfo } from 'node:net';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { Config } from '../../config/config.js';
import { codeSamples, type CodeSamples } from './openapi-examples.js';
import { RESPONSE_SCHEMAS } from './openapi-schemas.js';

const DESCRIPTION = `Durable agent runs. A message to a session makes a run; read it as a stream, page by page, or both:
the id of an event is its position everywhere, so a reader that lost its connection goes on from the last id it saw.`;

export interface DocumentFacts {
  readonly version: string;
  /** Where the server is reached, without a trailing slash. */
  readonly baseUrl: string;
  /** True when callers need a key. */
  readonly needsKey: boolean;
  /** Schemas of other dialects, by name. */
  readonly schemas?: Readonly<Record<string, unknown>>;
  /** Operations that are written by hand, by path and method; those without a route are left out. */
  readonly operations?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** The OpenAPI 3.1 document of the application. */
export function buildOpenApi(app: NestFastifyApplication, facts: DocumentFacts): OpenAPIObject {
  const builder = new DocumentBuilder().setTitle('Bridle').setDescription(DESCRIPTION).setVersion(facts.version);
  if (facts.needsKey) builder.addBearerAuth({ type: 'http', scheme: 'bearer' }, 'key').addSecurityRequirements('key');
  const document = SwaggerModule.createDocument(app, builder.build(), {
    operationIdFactory: operationIdOf,
    autoTagControllers: false,
  });
  const upgraded = toOpenApi31(document) as OpenAPIObject;
  upgraded.servers = [{ url: facts.baseUrl }];
  upgraded.components = {
    ...upgraded.components,
    schemas: { ...upgraded.components?.schemas, ...RESPONSE_SCHEMAS, ...facts.schemas } as never,
  };
  for (const [path, byMethod] of Object.entries(facts.operations ?? {})) {
    const known = upgraded.paths[path];
    if (known !== undefined) Object.assign(known, structuredClone(byMethod));
  }
  finishOperations(upgraded, codeSamples(facts.baseUrl));
  return upgraded;
}

/**
 * Serves `/docs` and `/openapi.json`, unless `docs.enabled` is false. Call it before the application listens; the
 * document is made at the first request, when the port is known.
 */
export function serveDocs(
  app: NestFastifyApplication,
  config: Config,
  facts: Pick<DocumentFacts, 'version' | 'schemas' | 'operations'>,
): void {
  if (!config.docs.enabled) return;
  const build = (): OpenAPIObject =>
    buildOpenApi(app, { ...facts, baseUrl: baseUrlOf(app, config), needsKey: config.auth.mode === 'key' });
  SwaggerModule.setup('docs', app, build, { jsonDocumentUrl: 'openapi.json', raw: ['json'] });
}

function baseUrlOf(app: NestFastifyApplication, { server }: Config): string {
  if (server.publicUrl !== undefined) return server.publicUrl.replace(/\/$/, '');
  const { port } = app.getHttpServer().address() as AddressInfo;
  return `http://${server.host.includes(':') ? `[${server.host}]` : server.host}:${port}`;
}

/** `sessionsList` for a method of a controller that names no id of its own. */
function operationIdOf(controller: string, method: string): string {
  const name = controller.replace(/Controller$/, '');
  return name.charAt(0).toLowerCase() + name.slice(1) + method.charAt(0).toUpperCase() + method.slice(1);
}

/** The document's generator writes 3.0 and can only change the number: `nullable` becomes a type of its own. */
function toOpenApi31(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toOpenApi31);
  if (typeof value !== 'object' || value === null) return value;
  const { nullable, ...rest } = value as Record<string, unknown>;
  const upgraded = Object.fromEntries(Object.entries(rest).map(([key, child]) => [key, toOpenApi31(child)]));
  if ('openapi' in upgraded) upgraded['openapi'] = '3.1.0';
  if (nullable === true && typeof upgraded['type'] === 'string') upgraded['type'] = [upgraded['type'], 'null'];
  return upgraded;
}

interface Documented {
  operationId?: string;
  description?: string;
  'x-codeSamples'?: readonly object[];
}

/** Puts each sample where tools look for it and, because not all do, into the description too. */
function finishOperations(document: OpenAPIObject, samples: CodeSamples): void {
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path) as unknown as Documented[]);
  for (const operation of operations) {
    // A handler of several paths has one id for each; its first path keeps the plain one.
    operation.operationId = operation.operationId?.replace(/\[(\d+)\]$/, (_, n) =>
      n === '0' ? '' : `${Number(n) + 1}`,
    );
    const source = samples[operation.operationId ?? ''];
    if (source === undefined) continue;
    operation['x-codeSamples'] = [{ lang: 'Shell', label: 'curl', source }];
    operation.description = [operation.description, `\`\`\`sh\n${source}\n\`\`\``].filter(Boolean).join('\n\n');
  }
}
