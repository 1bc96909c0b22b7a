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
}

/** The OpenAPI 3.1 document of the application. */
export function buildOpenApi(app: NestFastifyApplication, facts: DocumentFacts): OpenAPIObject {
  const builder = new DocumentBuilder().setTitle('Bridle').setDescription(DESCRIPTION).setVersion(facts.version);
  if (facts.needsKey) builder.addBearerAuth({ type: 'http', scheme: 'bearer' }, 'key').addSecurityRequirements('key');
  const document = SwaggerModule.createDocument(app, builder.build());
  const upgraded = toOpenApi31(document) as OpenAPIObject;
  upgraded.servers = [{ url: facts.baseUrl }];
  upgraded.components = {
    ...upgraded.components,
    schemas: { ...upgraded.components?.schemas, ...RESPONSE_SCHEMAS, ...facts.schemas } as never,
  };
  addCodeSamples(upgraded, codeSamples(facts.baseUrl));
  return upgraded;
}

/** Serves `/docs` and `/openapi.json`, unless `docs.enabled` is false. Call it before the application listens. */
export function serveDocs(
  app: NestFastifyApplication,
  config: Config,
  facts: Omit<DocumentFacts, 'baseUrl' | 'needsKey'>,
): void {
  if (!config.docs.enabled) return;
  const { host, httpPort, publicUrl } = config.server;
  const baseUrl = (publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${httpPort}`).replace(/\/$/, '');
  const document = buildOpenApi(app, { ...facts, baseUrl, needsKey: config.auth.mode === 'key' });
  SwaggerModule.setup('docs', app, document, { jsonDocumentUrl: 'openapi.json', raw: ['json'] });
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
function addCodeSamples(document: OpenAPIObject, samples: CodeSamples): void {
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path) as unknown as Documented[]);
  for (const operation of operations) {
    const source = samples[operation.operationId ?? ''];
    if (source === undefined) continue;
    operation['x-codeSamples'] = [{ lang: 'Shell', label: 'curl', source }];
    operation.description = [operation.description, `\`\`\`sh\n${source}\n\`\`\``].filter(Boolean).join('\n\n');
  }
}
