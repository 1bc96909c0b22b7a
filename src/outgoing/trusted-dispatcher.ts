import { Agent, type Dispatcher } from 'undici';

/**
 * Connections to hosts that the operator configured (a model's base URL): no address rules and no time limits of
 * its own, because whoever uses it watches the first byte and the silence between chunks.
 */
export const trustedDispatcher: Dispatcher = new Agent({
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: 10_000,
});
