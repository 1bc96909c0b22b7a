import { Agent, EnvHttpProxyAgent, type Dispatcher } from 'undici';

/** Section `proxy` of the configuration. */
export interface ProxySettings {
  /** The proxy for `http` URLs, and for `https` URLs that have none of their own. */
  readonly httpUrl?: string | undefined;
  readonly httpsUrl?: string | undefined;
  /** Hosts that are reached without it: a name means its subdomains too, `host:port` one port, `*` every host. */
  readonly bypass: readonly string[];
}

/** A proxy elsewhere cannot reach what listens on this machine. */
const OWN_MACHINE = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Connections to hosts that the operator configured (a model's base URL): no address rules and no time limits of
 * its own, because whoever uses it watches the first byte and the silence between chunks. Through a proxy, if one is
 * set, always by CONNECT; then the proxy resolves the name.
 */
export function trustedDispatcher({ httpUrl, httpsUrl, bypass }: ProxySettings): Dispatcher {
  const options = { headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 10_000 };
  if (httpUrl === undefined && httpsUrl === undefined) return new Agent(options);
  // undici takes one star alone as "every host"
  const noProxy = bypass.includes('*') ? '*' : [...bypass, ...OWN_MACHINE].join(',');
  // empty texts, because it would look into the environment for what is missing
  return new EnvHttpProxyAgent({ ...options, httpProxy: httpUrl ?? '', httpsProxy: httpsUrl ?? '', noProxy });
}
