import type { Draft } from './draft.js';
import { type Environment, valueOf } from './layers.js';

interface Alias {
  readonly variable: string;
  readonly key: string;
  /** Words of the other convention that we spell differently. */
  readonly words?: Readonly<Record<string, string>>;
  /** What the other convention leaves out of a value. */
  readonly complete?: (text: string) => string;
}

const asItIs = (text: string): string => text;

/** A proxy may be named without its scheme. */
const withScheme = (url: string): string => (url.includes('://') ? url : `http://${url}`);

/** Names of common conventions, each understood where the key itself is not set. */
const ALIASES: readonly Alias[] = [
  { variable: 'PORT', key: 'server.httpPort' },
  { variable: 'SERVER_PORT', key: 'server.httpPort' },
  { variable: 'SERVER_HOST', key: 'server.host' },
  { variable: 'DATABASE_URL', key: 'database.url' },
  { variable: 'MODEL_NAME', key: 'model.name' },
  { variable: 'MODEL_AGENT_NAME', key: 'model.name' },
  { variable: 'MODEL_AGENT_PROVIDER', key: 'model.provider', words: { openai: 'openai-compatible' } },
  { variable: 'MODEL_AGENT_API_BASE', key: 'model.baseUrl' },
  { variable: 'MODEL_AGENT_API_KEY', key: 'model.apiKey' },
  { variable: 'MAX_LLM_CALLS', key: 'limits.maxTurns' },
  { variable: 'HTTP_PROXY', key: 'proxy.httpUrl', complete: withScheme },
  { variable: 'http_proxy', key: 'proxy.httpUrl', complete: withScheme },
  { variable: 'HTTPS_PROXY', key: 'proxy.httpsUrl', complete: withScheme },
  { variable: 'https_proxy', key: 'proxy.httpsUrl', complete: withScheme },
  { variable: 'NO_PROXY', key: 'proxy.bypass' },
  { variable: 'no_proxy', key: 'proxy.bypass' },
];

/** Understood elsewhere, without effect here: said aloud, so that nobody waits for it. */
const WITHOUT_EFFECT: readonly string[] = [
  'REDIS_URL',
  'SKILLS',
  'RUNTIME',
  'HARNESS_NAME',
  'MCP_SERVERS_JSON',
  'REGISTRY_SPACE_ID',
  'SKILL_HUB_DOWNLOAD_URL',
  'SKILL_HUB_SEARCH_URL',
  'HARNESS_APP_RETURN_LLM_USAGE',
  'ADK_DEFAULT_APP_NAME',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
];

/**
 * Lays the conventional names over the draft.
 * @throws ConfigError when a name contradicts its key or another name of it
 */
export function applyAliases(draft: Draft, environment: Environment): void {
  for (const { variable, key, words, complete = asItIs } of ALIASES) {
    const text = environment[variable];
    if (text !== undefined && text !== '') draft.alias(key, valueOf(key, words?.[text] ?? complete(text)), variable);
  }
  for (const prefix of ['AGENTKIT', 'ADK']) applyOrigins(draft, environment, prefix);
}

/** `…_ALLOW_ORIGINS` is a list, `…_ALLOW_ORIGIN_REGEX` one expression beside it; together they are one value. */
function applyOrigins(draft: Draft, environment: Environment, prefix: string): void {
  const names = [`${prefix}_ALLOW_ORIGINS`, `${prefix}_ALLOW_ORIGIN_REGEX`] as const;
  const [list, expression] = names.map((name) => environment[name] ?? '');
  if (!list && !expression) return;
  const origins = valueOf('http.allowOrigins', list ?? '') as string[];
  const all = expression ? [...origins, `regex:${expression}`] : origins;
  draft.alias('http.allowOrigins', all, names.filter((name) => environment[name]).join(' and '));
}

/** One sentence for each name in the environment that this version does not act upon. */
export function namesWithoutEffect(environment: Environment): string[] {
  return WITHOUT_EFFECT.filter((name) => environment[name]).map(
    (name) => `the variable ${name} has no effect in this version`,
  );
}
