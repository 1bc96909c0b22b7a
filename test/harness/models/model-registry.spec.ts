import { ConfigError } from '../../../src/config/config-error.js';
import { ModelRegistry } from '../../../src/harness/models/model-registry.js';
import { OfflineModel } from '../../../src/harness/models/offline/offline-model.js';
import { OpenAiCompatibleModel } from '../../../src/harness/models/openai-compatible.js';
import { providerAccess } from '../../../src/harness/models/providers.js';
import { ScriptModel } from '../../../src/harness/models/script/script-model.js';
import { aConfig } from '../../support/test-config.js';

const registryOf = (variables: Record<string, string>) => new ModelRegistry(aConfig(variables));

describe('ModelRegistry', () => {
  it('uses offline where no key is configured', () => {
    const registry = registryOf({});
    expect(registry.defaultName).toBe('offline');
    expect(registry.modelFor(undefined)).toBeInstanceOf(OfflineModel);
    expect(registry.modelFor('gpt-4.1')).toBe(registry.modelFor(undefined));
  });

  it('knows script and offline by name, whatever the provider', () => {
    const registry = registryOf({ OPENAI_API_KEY: 'k' });
    expect(registry.modelFor('script')).toBeInstanceOf(ScriptModel);
    expect(registry.modelFor('offline')).toBeInstanceOf(OfflineModel);
    expect(registryOf({ BRIDLE_MODEL_PROVIDER: 'script' }).defaultName).toBe('script');
  });

  it.each([
    [{ OPENAI_API_KEY: 'k' }, 'gpt-4.1-mini', true],
    [{ ARK_API_KEY: 'k' }, 'doubao-seed-1-6-251015', true],
    [{ DEEPSEEK_API_KEY: 'k' }, 'deepseek-chat', false],
    [{ DASHSCOPE_API_KEY: 'k' }, 'qwen3-vl-plus', true],
    [{ OPENAI_API_KEY: 'k', MODEL_NAME: 'mine' }, 'mine', true],
  ])('uses the provider whose key is set: %j', (variables, name, acceptsPictures) => {
    const registry = registryOf(variables);
    expect(registry.defaultName).toBe(name);
    expect(registry.modelFor(undefined)).toBeInstanceOf(OpenAiCompatibleModel);
    expect(registry.modelFor(undefined)).toMatchObject({ name, acceptsPictures });
  });

  it("gives an agent another of the provider's models, the same one each time", () => {
    const registry = registryOf({ OPENAI_API_KEY: 'k' });
    expect(registry.modelFor('gpt-4.1')).toMatchObject({ name: 'gpt-4.1' });
    expect(registry.modelFor('gpt-4.1')).toBe(registry.modelFor('gpt-4.1'));
  });

  it('needs no key for a server of one’s own, but the name of a model', () => {
    const own = { BRIDLE_MODEL_PROVIDER: 'openai-compatible', BRIDLE_MODEL_BASE_URL: 'http://127.0.0.1:11434/v1' };
    expect(providerAccess(aConfig({ ...own, BRIDLE_MODEL_NAME: 'qwen3' }).model)).toEqual({
      baseUrl: 'http://127.0.0.1:11434/v1',
      model: 'qwen3',
      apiKey: undefined,
      acceptsPictures: true,
    });
    expect(() => registryOf(own)).toThrow(
      new ConfigError('model.name must be set when model.baseUrl is, to the name of a model on that server'),
    );
  });

  it('says which key a provider lacks', () => {
    expect(() => registryOf({ BRIDLE_MODEL_PROVIDER: 'deepseek' })).toThrow(
      new ConfigError('model.apiKey must be set for model.provider deepseek, for example by DEEPSEEK_API_KEY'),
    );
  });

  it('ends at shutdown what its models hold', async () => {
    await expect(registryOf({}).onApplicationShutdown()).resolves.toBeUndefined();
  });
});
