import type { FastifyInstance } from 'fastify';

const METHODS = 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT';
const PREFLIGHT_VARY = 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers';
/** How long a browser may remember a preflight, seconds. */
const MAX_AGE = '600';

/**
 * Tells whether an origin is configured: each entry is `*`, an origin, or `regex:` and an expression for the whole
 * origin.
 */
export function originRule(origins: readonly string[]): (origin: string) => boolean {
  const rules = origins.map((entry) => {
    if (entry === '*') return () => true;
    if (!entry.startsWith('regex:')) return (origin: string) => origin === entry;
    const pattern = new RegExp(`^(?:${entry.slice('regex:'.length)})$`);
    return (origin: string) => pattern.test(origin);
  });
  return (origin) => rules.some((allows) => allows(origin));
}

/**
 * Answers preflights and opens answers to the configured origins; without any, browsers keep to their own origin.
 * An origin is echoed and may send credentials, unless `*` is configured: that never goes with credentials.
 */
export function allowOrigins(fastify: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return;
  const isAllowed = originRule(origins);
  const isOpen = origins.includes('*');
  const headersFor = (origin: string): Record<string, string> => {
    if (isOpen) return { 'access-control-allow-origin': '*' };
    return {
      ...(isAllowed(origin) && { 'access-control-allow-origin': origin }),
      'access-control-allow-credentials': 'true',
      vary: 'Origin',
    };
  };
  fastify.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers;
    if (origin === undefined) return done();
    void reply.headers(headersFor(origin));
    const asked = request.headers['access-control-request-method'];
    if (request.method !== 'OPTIONS' || asked === undefined) return done();
    const wanted = request.headers['access-control-request-headers'];
    void reply.headers({
      'access-control-allow-methods': METHODS,
      'access-control-max-age': MAX_AGE,
      vary: PREFLIGHT_VARY,
      ...(typeof wanted === 'string' && { 'access-control-allow-headers': wanted }),
    });
    void reply.code(isAllowed(origin) ? 200 : 400).type('text/plain; charset=utf-8');
    void reply.send(isAllowed(origin) ? 'OK' : 'Disallowed CORS origin');
  });
}
