import { ConfigError } from '../../config/config-error.js';
import type { Config } from '../../config/config.js';

/** The format of a provider's requests and answers. */
export type ProviderWire = 'openai' | 'anthropic' | 'google';

interface Provider {
  readonly wire: ProviderWire;
  readonly baseUrl: string;
  /** The model that is used when none is named. */
  readonly model: string;
  readonly acceptsPictures: boolean;
  /** The provider's own variable of its key. */
  readonly keyVariable: string;
}

type ProviderName = Config['model']['provider'];

/** The providers, with what they use unless configured otherwise. */
const PROVIDERS: Partial<Record<ProviderName, Provider>> = {
  'openai-compatible': {
    wire: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    model: 'gpt-4.1-mini',
    acceptsPictures: true,
    keyVariable: 'OPENAI_API_KEY',
  },
  ark: {
    wire: 'openai',
    baseUrl: 'https://ark.cn-beijing.volces.com/api/v3',
    model: 'doubao-seed-1-6-251015',
    acceptsPictures: true,
    keyVariable: 'ARK_API_KEY',
  },
  deepseek: {
    wire: 'openai',
    baseUrl: 'https://api.deepseek.com/v1',
    model: 'deepseek-chat',
    acceptsPictures: false,
    keyVariable: 'DEEPSEEK_API_KEY',
  },
  qwen: {
    wire: 'openai',
    baseUrl: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
    model: 'qwen3-vl-plus',
    acceptsPictures: true,
    keyVariable: 'DASHSCOPE_API_KEY',
  },
  anthropic: {
    wire: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    model: 'claude-sonnet-4-5',
    acceptsPictures: true,
    keyVariable: 'ANTHROPIC_API_KEY',
  },
  google: {
    wire: 'google',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    model: 'gemini-2.5-flash',
    acceptsPictures: true,
    keyVariable: 'GEMINI_API_KEY',
  },
};

/** How a provider is reached. */
export interface ProviderAccess {
  readonly wire: ProviderWire;
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey: string | undefined;
  readonly acceptsPictures: boolean;
}

/**
 * How the configured provider is reached; undefined for `offline` and `script`, which are no providers.
 * @throws ConfigError when a key, or the name of a model on a server of one's own, is missing
 */
export function providerAccess({ provider, baseUrl, name, apiKey }: Config['model']): ProviderAccess | undefined {
  const known = PROVIDERS[provider];
  if (known === undefined) return undefined;
  if (apiKey === undefined && baseUrl === undefined) {
    throw new ConfigError(
      `model.apiKey must be set for model.provider ${provider}, for example by ${known.keyVariable}`,
    );
  }
  if (known.wire !== 'openai' && apiKey === undefined) {
    throw new ConfigError(
      `model.apiKey must be set for model.provider ${provider}; a server that needs none takes any`,
    );
  }
  if (provider === 'openai-compatible' && baseUrl !== undefined && baseUrl !== known.baseUrl && name === undefined) {
    throw new ConfigError('model.name must be set when model.baseUrl is, to the name of a model on that server');
  }
  return {
    wire: known.wire,
    baseUrl: baseUrl ?? known.baseUrl,
    model: name ?? known.model,
    apiKey,
    acceptsPictures: known.acceptsPictures,
  };
}
