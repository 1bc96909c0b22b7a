import { ConfigError } from '../../../src/config/config-error.js';
import { ModelRegistry } from '../../../src/harness/models/model-registry.js';
import { OfflineModel } from '../../../src/harness/models/offline/offline-model.js';
import { providerAccess } from '../../../src/harness/models/providers.js';
import { ScriptModel } from '../../../src/harness/models/script/script-model.js';
import { CollectingLogger } from '../../support/http-app.js';
import { errorReply, FakeLlm } from '../../support/fake-llm.js';
import type { ChatRequest } from '../../../src/harness/ports/chat-model.port.js';
import { aConfig } from '../../support/test-config.js';

const registryOf = (variables: Record<string, string>) => new ModelRegistry(aConfig(variables), new CollectingLogger());

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
    [{ ANTHROPIC_API_KEY: 'k' }, 'claude-sonnet-4-5', true],
    [{ GEMINI_API_KEY: 'k' }, 'gemini-2.5-flash', true],
    [{ GOOGLE_API_KEY: 'k' }, 'gemini-2.5-flash', true],
    // the order of `auto`
    [{ GEMINI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', DASHSCOPE_API_KEY: 'k' }, 'qwen3-vl-plus', true],
    [{ GEMINI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' }, 'claude-sonnet-4-5', true],
    [{ OPENAI_API_KEY: 'k', MODEL_NAME: 'mine' }, 'mine', true],
  ])('uses the provider whose key is set: %j', (variables, name, acceptsPictures) => {
    const registry = registryOf(variables);
    expect(registry.defaultName).toBe(name);
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
      wire: 'openai',
      baseUrl: 'http://127.0.0.1:11434/v1',
      model: 'qwen3',
      apiKey: undefined,
      acceptsPictures: true,
    });
    expect(() => registryOf(own)).toThrow(
      new ConfigError('model.name must be set when model.baseUrl is, to the name of a model on that server'),
    );
  });

  describe('with a provider that is busy', () => {
    let provider: FakeLlm;

    beforeEach(async () => {
      provider = await FakeLlm.start();
    });

    afterEach(() => provider.close());

    const request: ChatRequest = {
      ...{ runId: 'r1', agentName: 'a', system: '', tools: [], language: 'en' },
      messages: [{ role: 'user', parts: [{ kind: 'text', text: 'hi' }] }],
    };

    it.each([
      ['openai-compatible', '/v1/chat/completions', 'authorization', 'Bearer k-secret'],
      ['anthropic', '/v1/messages', 'x-api-key', 'k-secret'],
      ['google', '/v1/models/m:streamGenerateContent?alt=sse', 'x-goog-api-key', 'k-secret'],
    ])('asks %s in its own way, and logs why it failed', async (name, path, header, key) => {
      provider.script(errorReply(529, 'overloaded: the user said hi', { 'x-request-id': 'req_9', 'retry-after': '7' }));
      const logger = new CollectingLogger();
      const config = aConfig({
        BRIDLE_MODEL_PROVIDER: name,
        BRIDLE_MODEL_BASE_URL: provider.baseUrl,
        BRIDLE_MODEL_API_KEY: 'k-secret',
        BRIDLE_MODEL_NAME: 'm',
      });
      const registry = new ModelRegistry(config, logger);
      const asking = (async () => {
        for await (const _event of registry.modelFor(undefined).stream(request, new AbortController().signal));
      })();
      await expect(asking).rejects.toThrow('the model answered 529');
      expect(provider.requests[0]).toMatchObject({ path, headers: { [header]: key } });
      expect(logger.lines).toEqual([
        {
          level: 'warn',
          message: 'the model failed',
          fields: {
            ...{
              runId: 'r1',
              agentName: 'a',
              model: 'm',
              fault: 'http',
              reason: 'the model answered 529',
              status: 529,
            },
            ...{ requestId: 'req_9', retryAfterMs: 7000, retryable: true },
            durationMs: expect.any(Number) as number,
          },
        },
      ]);
      await registry.onApplicationShutdown();
    });
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
