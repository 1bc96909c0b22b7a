import { ConfigError } from './config-error.js';
import type { Config } from './config.js';
import { isLoopbackHost } from './loopback.js';

/**
 * What no key can check alone.
 * @throws ConfigError for the first contradiction between keys
 */
export function checkTogether(config: Config): void {
  const { auth, server, runs, http } = config;
  if (auth.mode === 'none' && !auth.allowOpen && !isLoopbackHost(server.host)) {
    throw new ConfigError(
      `server.host is ${server.host} with auth.mode none, so anybody could use this server; accepted are a loopback ` +
        'address such as 127.0.0.1, auth.mode key, or auth.allowOpen true',
    );
  }
  if (auth.mode === 'key' && auth.keys.length === 0) {
    throw new ConfigError('auth.keys is empty with auth.mode key, so nobody could use this server; it must name a key');
  }
  if (runs.heartbeatMs * 2 > runs.leaseMs) {
    throw new ConfigError(
      `runs.heartbeatMs must be at most half of runs.leaseMs (${runs.leaseMs}), got ${runs.heartbeatMs}`,
    );
  }
  if (server.httpPort !== 0 && server.httpPort === server.grpcPort && server.role !== 'worker') {
    throw new ConfigError(`server.httpPort and server.grpcPort must differ, both are ${server.httpPort}`);
  }
  if (http.maxBodyBytes > MAX_STRING_BYTES) {
    throw new ConfigError(`http.maxBodyBytes must be at most ${MAX_STRING_BYTES}, got ${http.maxBodyBytes}`);
  }
}

/** A body becomes one JavaScript string, which cannot be longer than this. */
const MAX_STRING_BYTES = 512 * 1024 * 1024 - 25;
