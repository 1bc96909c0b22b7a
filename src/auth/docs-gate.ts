import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Config } from '../config/config.js';
import { isLoopbackHost } from '../config/loopback.js';
import { type Authenticator, credentialsOf } from './authenticator.js';

const DOCS_ROUTE = /^\/(docs|openapi\.json)($|\W)/;

/**
 * An `onRequest` hook of Fastify for `/docs` and `/openapi.json`, which are no routes of a controller and so no
 * business of the guard. They need a key unless only this machine can reach the listener.
 * @param refuse answers the request with an error
 */
export function docsGate(
  config: Config,
  authenticator: Authenticator,
  refuse: (error: unknown, request: FastifyRequest, reply: FastifyReply) => void,
): onRequestHookHandler {
  const isOpen = isLoopbackHost(config.server.host);
  return (request, reply, done) => {
    try {
      // The route, not the URL: `/%64ocs` leads there too.
      const route = request.routeOptions.url ?? '';
      if (!isOpen && DOCS_ROUTE.test(route)) authenticator.authenticate(credentialsOf(request.headers));
    } catch (error) {
      // Not through Fastify's error handler: routes that exist before Nest has started keep the default one.
      refuse(error, request, reply);
      return;
    }
    done();
  };
}
