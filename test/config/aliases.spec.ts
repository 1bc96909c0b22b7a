import { ConfigError } from '../../src/config/config-error.js';
import { loadConfig } from '../../src/config/load-config.js';

const load = (variables: Record<string, string>) => loadConfig(variables).config;

describe('conventional names', () => {
  it('give their keys a value', () => {
    const { server, database, model, limits, http } = load({
      SERVER_HOST: 'localhost',
      PORT: '9000',
      SERVER_PORT: '9000',
      DATABASE_URL: 'mysql://u:p%40ss@db.example/bridle',
      MODEL_NAME: 'gpt-x',
      MODEL_AGENT_PROVIDER: 'openai',
      MODEL_AGENT_API_BASE: 'http://127.0.0.1:11434/v1',
      MODEL_AGENT_API_KEY: 'sk-1',
      MAX_LLM_CALLS: '12',
      ADK_ALLOW_ORIGINS: 'https://a.example,https://b.example',
      ADK_ALLOW_ORIGIN_REGEX: '^https://[a-z]+\\.example$',
    });
    expect([server.host, server.httpPort]).toEqual(['localhost', 9000]);
    expect(database.url).toBe('mysql://u:p%40ss@db.example/bridle');
    expect(model).toMatchObject({
      name: 'gpt-x',
      provider: 'openai-compatible',
      baseUrl: 'http://127.0.0.1:11434/v1',
      apiKey: 'sk-1',
    });
    expect(limits.maxTurns).toBe(12);
    expect(http.allowOrigins).toEqual(['https://a.example', 'https://b.example', 'regex:^https://[a-z]+\\.example$']);
  });

  it('may repeat the key, and stop the start when they contradict it or each other', () => {
    expect(load({ PORT: '9000', BRIDLE_SERVER_HTTP_PORT: '9000' }).server.httpPort).toBe(9000);
    expect(() => load({ PORT: '9000', BRIDLE_SERVER_HTTP_PORT: '9001' })).toThrow(
      new ConfigError(
        'server.httpPort has two values: 9001 from BRIDLE_SERVER_HTTP_PORT and 9000 from PORT; set one of them, or both alike',
      ),
    );
    expect(() => load({ PORT: '9000', SERVER_PORT: '9001' })).toThrow(/server\.httpPort has two values/);
    expect(() => load({ AGENTKIT_ALLOW_ORIGINS: 'https://a.example', ADK_ALLOW_ORIGINS: 'https://b.example' })).toThrow(
      /http\.allowOrigins has two values/,
    );
  });

  it('are checked like the key', () => {
    expect(() => load({ PORT: 'http' })).toThrow(/server\.httpPort must be .* got "http" from PORT/);
  });

  it('change the agent harness_agent', () => {
    expect(load({ SYSTEM_PROMPT: 'Be brief.', TOOLS: 'now, ,web_fetch' }).agents.harnessAgent).toEqual({
      systemPrompt: 'Be brief.',
      tools: ['now', 'web_fetch'],
    });
    expect(load({ TOOLS: '' }).agents.harnessAgent).toEqual({ tools: [] });
    expect(load({}).agents.harnessAgent).toEqual({});
  });

  it('that have no effect yet are named', () => {
    expect(loadConfig({ REDIS_URL: 'redis://h', SKILLS: '' }).warnings).toEqual([
      'the variable REDIS_URL has no effect in this version',
    ]);
  });
});

describe('model.provider auto', () => {
  it.each<[string, Record<string, string>, Record<string, string | undefined>]>([
    ['is offline without a key', {}, { provider: 'offline', apiKey: undefined }],
    ['ignores an empty key', { OPENAI_API_KEY: '' }, { provider: 'offline', apiKey: undefined }],
    [
      'takes the first provider with a key',
      { DEEPSEEK_API_KEY: 'd', ARK_API_KEY: 'a' },
      { provider: 'ark', apiKey: 'a' },
    ],
    ['knows Qwen by DashScope', { DASHSCOPE_API_KEY: 'q' }, { provider: 'qwen', apiKey: 'q' }],
    [
      'takes the base URL that belongs to the key',
      { OPENAI_API_KEY: 'o', OPENAI_BASE_URL: 'https://llm.example/v1', ARK_API_KEY: 'a' },
      { provider: 'openai-compatible', apiKey: 'o', baseUrl: 'https://llm.example/v1' },
    ],
    ['takes a key of no named provider', { BRIDLE_MODEL_API_KEY: 'k' }, { provider: 'openai-compatible', apiKey: 'k' }],
  ])('%s', (_, variables, expected) => {
    expect(load(variables).model).toMatchObject(expected);
  });

  it('asks when a base URL is set that it would not use', () => {
    expect(() => load({ BRIDLE_MODEL_BASE_URL: 'http://127.0.0.1:11434/v1' })).toThrow(
      /model\.provider openai-compatible/,
    );
  });
});

describe('a provider that is named', () => {
  it('reads its own variable and nobody else’s', () => {
    expect(load({ BRIDLE_MODEL_PROVIDER: 'ark', ARK_API_KEY: 'a', OPENAI_API_KEY: 'o' }).model.apiKey).toBe('a');
    expect(load({ BRIDLE_MODEL_PROVIDER: 'script', OPENAI_API_KEY: 'o' }).model).toMatchObject({
      provider: 'script',
      apiKey: undefined,
    });
  });

  it('stops the start when its variable contradicts model.apiKey', () => {
    expect(() => load({ BRIDLE_MODEL_PROVIDER: 'ark', BRIDLE_MODEL_API_KEY: 'x', ARK_API_KEY: 'a' })).toThrow(
      'model.apiKey has two values: *** from BRIDLE_MODEL_API_KEY and *** from ARK_API_KEY',
    );
  });
});
