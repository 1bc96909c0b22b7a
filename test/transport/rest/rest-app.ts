import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ActionsController } from '../../../src/transport/rest/actions.controller.js';
import { AgentsController } from '../../../src/transport/rest/agents.controller.js';
import { LaterController } from '../../../src/transport/rest/later.controller.js';
import { ResourcesController } from '../../../src/transport/rest/resources.controller.js';
import { RestBodies } from '../../../src/transport/rest/rest-bodies.js';
import { RestErrors } from '../../../src/transport/rest/rest.errors.js';
import { RunStreams } from '../../../src/transport/rest/run-streams.js';
import { RunsController } from '../../../src/transport/rest/runs.controller.js';
import { SessionsController } from '../../../src/transport/rest/sessions.controller.js';
import { UploadReader } from '../../../src/transport/rest/upload-reader.js';
import { bootHttp, type HttpApp } from '../../support/http-app.js';
import { aConfig } from '../../support/test-config.js';
import { FakeServices } from './fake-services.js';

export interface RestApp extends HttpApp {
  readonly services: FakeServices;
  /** Sends JSON, or what `init` says. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
}

/** Boots `/v1` over fake services. */
export async function bootRest(
  variables: Record<string, string> = {},
  prepare?: (app: NestFastifyApplication) => void,
): Promise<RestApp> {
  const services = new FakeServices();
  const server = await bootHttp({
    config: aConfig(variables),
    dialects: [RestErrors],
    controllers: [
      AgentsController,
      SessionsController,
      ActionsController,
      RunsController,
      ResourcesController,
      LaterController,
    ],
    providers: [RestBodies, RunStreams, UploadReader, ...services.providers],
    ...(prepare && { prepare }),
  });
  return {
    ...server,
    services,
    call: (method, path, body, headers = {}) =>
      fetch(server.url + path, {
        method,
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
  };
}
