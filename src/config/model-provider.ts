import { ConfigError } from './config-error.js';
import type { Draft } from './draft.js';
import { type Environment, valueOf } from './layers.js';

interface ProviderNames {
  readonly provider: string;
  readonly apiKeys: readonly string[];
  readonly baseUrl?: string;
}

/** The providers' own variables, in the order in which `auto` looks for a key. */
const PROVIDERS: readonly ProviderNames[] = [
  { provider: 'openai-compatible', apiKeys: ['OPENAI_API_KEY'], baseUrl: 'OPENAI_BASE_URL' },
  { provider: 'ark', apiKeys: ['ARK_API_KEY'] },
  { provider: 'deepseek', apiKeys: ['DEEPSEEK_API_KEY'] },
  { provider: 'qwen', apiKeys: ['DASHSCOPE_API_KEY'] },
  { provider: 'anthropic', apiKeys: ['ANTHROPIC_API_KEY'] },
  { provider: 'google', apiKeys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'] },
];

/**
 * Decides `model.provider: auto` (a key of no named provider means `openai-compatible`, no key at all `offline`)
 * and takes over the chosen provider's own variables.
 * @throws ConfigError when they contradict the keys, or when a base URL is set that `auto` would not use
 */
export function resolveProvider(draft: Draft, environment: Environment): void {
  if (draft.get('model.provider') === 'auto') {
    const chosen = draft.isSet('model.apiKey')
      ? 'openai-compatible'
      : (PROVIDERS.find(({ apiKeys }) => apiKeys.some((name) => environment[name]))?.provider ?? 'offline');
    if (chosen === 'offline' && draft.isSet('model.baseUrl')) {
      throw new ConfigError(
        `model.baseUrl is set by ${draft.placeOf('model.baseUrl')}, but no key is, so that model.provider auto means ` +
          `offline; accepted are a model.apiKey, or model.provider openai-compatible for a server that needs none`,
      );
    }
    draft.set(
      'model.provider',
      chosen,
      draft.isSet('model.provider') ? 'environment' : 'default',
      'model.provider auto',
    );
  }
  const names = PROVIDERS.find(({ provider }) => provider === draft.get('model.provider'));
  for (const name of names?.apiKeys ?? []) take(draft, environment, 'model.apiKey', name);
  take(draft, environment, 'model.baseUrl', names?.baseUrl);
}

function take(draft: Draft, environment: Environment, key: string, variable: string | undefined): void {
  const text = variable === undefined ? undefined : environment[variable];
  if (variable !== undefined && text) draft.alias(key, valueOf(key, text), variable);
}
