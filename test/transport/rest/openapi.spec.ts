import { parse, validate } from '@readme/openapi-parser';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectAll } from '../../../src/events/projection.js';
import { codeSamples } from '../../../src/transport/rest/openapi-examples.js';
import { buildOpenApi } from '../../../src/transport/rest/openapi.js';
import { flatProjection } from '../../../src/transport/rest/flat.projection.js';
import { envelopeProjection } from '../../../src/transport/rest/rest.projection.js';
import { EXAMPLE_EVENTS, EXAMPLE_RUN } from '../../support/example-run.js';
import { bootRest, type RestApp } from './rest-app.js';

type Operation = {
  operationId: string;
  responses: Record<string, { content?: Record<string, object> }>;
  'x-codeSamples'?: { source: string }[];
};
type Document = {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
};

const OPERATIONS: Readonly<Record<string, string>> = {
  'get /v1/agents': 'listAgents',
  'post /v1/sessions': 'createSession',
  'get /v1/sessions': 'listSessions',
  'get /v1/sessions/{sid}': 'getSession',
  'delete /v1/sessions/{sid}': 'deleteSession',
  'post /v1/actions': 'act',
  'get /v1/sessions/{sid}/runs/{rid}': 'getRun',
  'get /v1/sessions/{sid}/runs/{rid}/events': 'streamRun',
  'put /v1/sessions/{sid}/resources/{resource_id}': 'putResource',
};

/** Not covered here: `/docs` and the samples themselves; the e2e ring runs them against the built server. */
describe('the OpenAPI document', () => {
  let server: RestApp;
  let document: Document;
  beforeAll(async () => {
    server = await bootRest();
    const facts = { version: '1.2.3', baseUrl: 'http://127.0.0.1:8000', needsKey: false };
    document = JSON.parse(JSON.stringify(buildOpenApi(server.app, facts))) as Document;
  });
  afterAll(() => server.close());

  const operations = () =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
    );

  it('is valid OpenAPI 3.1', async () => {
    expect(document.openapi).toBe('3.1.0');
    const copy = () => structuredClone(document) as never;
    await parse(copy());
    expect(await validate(copy())).toEqual({ valid: true, warnings: [], specification: 'OpenAPI' });
    expect(JSON.stringify(document)).not.toContain('"nullable"');
  });

  it('has exactly the operations of this version, each under a stable id', () => {
    expect(Object.fromEntries(operations().map(({ name, operation }) => [name, operation.operationId]))).toEqual(
      OPERATIONS,
    );
  });

  it('describes streams as event objects and errors as error objects', () => {
    const stream = document.paths['/v1/sessions/{sid}/runs/{rid}/events']?.['get'];
    expect(stream?.responses['200']?.content).toEqual({
      'text/event-stream': {
        schema: {
          oneOf: [{ $ref: '#/components/schemas/FlatFrame' }, { $ref: '#/components/schemas/EnvelopeFrame' }],
        },
      },
    });
    for (const { operation } of operations()) {
      expect(operation.responses['401']?.content).toEqual({
        'application/json': { schema: { $ref: '#/components/schemas/ErrorBody' } },
      });
    }
  });

  it('asks for a key only where one is needed', () => {
    const facts = { version: '1', baseUrl: 'http://x', needsKey: true };
    expect(buildOpenApi(server.app, facts).security).toEqual([{ key: [] }]);
    expect(document).not.toHaveProperty('security');
  });

  it('takes operations that are written by hand, where there is a route', () => {
    const byHand = { operationId: 'byHand', tags: ['hand'], responses: { '200': { description: 'fine' } } };
    const facts = { version: '1', baseUrl: 'http://x', needsKey: false };
    const operations = { '/v1/agents': { get: byHand }, '/nowhere': { get: byHand } };
    const { paths } = buildOpenApi(server.app, { ...facts, operations });
    expect(paths['/v1/agents']).toEqual({ get: byHand });
    expect(paths).not.toHaveProperty('/nowhere');
  });

  it('holds a sample for each operation', () => {
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(Object.keys(codeSamples('')).sort()).toEqual([...ids, 'harnessRuntimeRunSse'].sort());
    for (const { operation } of operations()) {
      expect(operation['x-codeSamples']?.[0]?.source).toContain('curl -s');
    }
  });

  describe('its schemas', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    (addFormatsModule as unknown as (instance: Ajv2020) => void)(ajv);
    const check = (schema: string, value: unknown): void => {
      const isValid = ajv.validate({ $ref: `#/components/schemas/${schema}`, components: document.components }, value);
      expect({ schema, isValid, errors: ajv.errors }).toEqual({ schema, isValid: true, errors: null });
    };

    it('fit the answers', async () => {
      const get = async (path: string) => (await server.call('GET', path)).json();
      check('AgentList', await get('/v1/agents'));
      check('SessionList', await get('/v1/sessions'));
      check('SessionSnapshot', await get('/v1/sessions/S1'));
      check('RunPage', await get('/v1/sessions/S1/runs/R1'));
      check('ErrorBody', await get('/v1/nothing'));
      const message = { session_id: 'S1', request_id: 'r', action: 'message', text: 'x' };
      check('Receipt', await (await server.call('POST', '/v1/actions', message)).json());
    });

    it('fit every event of the example in both encodings', () => {
      for (const event of projectAll(envelopeProjection, EXAMPLE_RUN, EXAMPLE_EVENTS)) check('Event', event);
      for (const { id, type, data } of projectAll(flatProjection, EXAMPLE_RUN, EXAMPLE_EVENTS)) {
        check('FlatFrame', { id, event: type, data });
      }
    });

    it.each<[string, string]>(
      (
        JSON.parse(readFileSync(join('test/transport/rest/golden', 'source-fragments.json'), 'utf8')) as {
          schema: string;
          value: unknown;
        }[]
      ).map(({ schema, value }) => [schema, JSON.stringify(value)]),
    )('fit the first fragment of a %s', (schema, value) => {
      check(schema, JSON.parse(value));
    });
  });
});
