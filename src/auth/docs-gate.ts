import type { onRequestHookHandler } from 'fastify';
import type { Config } from '../config/config.js';
import { isLoopbackHost } from '../config/loopback.js';
import { type Authenticator, credentialsOf } from './authenticator.js';

const DOCS_ROUTE = /^\/(docs|openapi\.json)($|\W)/;

/**
 * An `onRequest` hook of Fastify for `/docs` and `/openapi.json`, which are no routes of a controller and so no
 * business of the guard. They need a key unless only this machine can reach the listener.
 */
export function docsGate(config: Config, authenticator: Authenticator): onRequestHookHandler {
  const isOpen = isLoopbackHost(config.server.host);
  return (request, _reply, done) => {
    // The route, not the URL: `/%64ocs` leads there too.
    const route = request.routeOptions.url ?? '';
    if (!isOpen && DOCS_ROUTE.test(route)) authenticator.authenticate(credentialsOf(request.headers));
    done();
  };
}
