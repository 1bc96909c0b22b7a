// Model calls through a proxy. The https case goes as far as the CONNECT: no certificate of a test would be trusted.
import { ModelRegistry } from '../../../src/harness/models/model-registry.js';
import type { ChatRequest } from '../../../src/harness/ports/chat-model.port.js';
import { OutgoingFetch } from '../../../src/outgoing/guarded-fetch.js';
import { startConnectProxy, type ConnectProxy } from '../../support/connect-proxy.js';
import { answerReply, FakeLlm, HANG, text } from '../../support/fake-llm.js';
import { CollectingLogger } from '../../support/http-app.js';
import { aConfig } from '../../support/test-config.js';

const CREDENTIALS = 'bridle:p@ss-word';
const REQUEST: ChatRequest = {
  ...{ runId: 'r1', agentName: 'a', system: '', tools: [], language: 'en' },
  messages: [{ role: 'user', parts: [{ kind: 'text', text: 'hi' }] }],
};

let llm: FakeLlm;
let proxy: ConnectProxy;
let logger: CollectingLogger;
const opened: ModelRegistry[] = [];

beforeEach(async () => {
  llm = await FakeLlm.start();
  proxy = await startConnectProxy(Number(new URL(llm.baseUrl).port), CREDENTIALS);
  logger = new CollectingLogger();
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((registry) => registry.onApplicationShutdown()));
  await proxy.close();
  await llm.close();
});

const proxyUrl = (password = 'p%40ss-word'): string => `http://bridle:${password}@127.0.0.1:${proxy.port}`;

/** Asks a model that is reached at `baseUrl`; what it said. */
async function ask(baseUrl: string, variables: Record<string, string>, signal = new AbortController().signal) {
  const own = { BRIDLE_MODEL_PROVIDER: 'openai-compatible', BRIDLE_MODEL_NAME: 'm', BRIDLE_MODEL_BASE_URL: baseUrl };
  const registry = new ModelRegistry(aConfig({ ...own, ...variables }), logger);
  opened.push(registry);
  let said = '';
  for await (const event of registry.modelFor(undefined).stream(REQUEST, signal)) {
    if (event.type === 'text') said += event.text;
  }
  return said;
}

describe('a model behind a proxy', () => {
  it.each(['HTTP_PROXY', 'http_proxy', 'BRIDLE_PROXY_HTTP_URL'])(
    'is reached by CONNECT, the name unresolved, with the credentials: %s',
    async (variable) => {
      llm.script(answerReply('hello'));
      await expect(ask('http://models.test/v1', { [variable]: proxyUrl() })).resolves.toBe('hello');
      expect(proxy.asked.map(({ target }) => target)).toEqual(['models.test:80']);
      expect(llm.requests[0]!.headers).toMatchObject({ host: 'models.test' });
      expect(llm.requests[0]!.headers).not.toHaveProperty('proxy-authorization');
    },
  );

  it('may be named without its scheme', async () => {
    llm.script(answerReply('hello'));
    const bare = proxyUrl().replace('http://', '');
    await expect(ask('http://models.test/v1', { HTTP_PROXY: bare })).resolves.toBe('hello');
  });

  it.each(['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY'])('is reached by it over https too: %s', async (variable) => {
    await expect(ask('https://models.test/v1', { [variable]: proxyUrl() })).rejects.toMatchObject({
      fault: 'connection',
    });
    expect(proxy.asked[0]?.target).toBe('models.test:443');
  });

  it.each([
    ['models.test', { NO_PROXY: 'models.test' }],
    ['api.models.test', { no_proxy: 'other.test,.models.test' }],
    ['models.test', { NO_PROXY: '*' }],
    ['models.test', { NO_PROXY: '10.0.0.0/8,models.test:80' }],
  ])('is reached without it where %s is excepted: %j', async (host, variables) => {
    const asking = ask(`http://${host}/v1`, { HTTP_PROXY: proxyUrl(), ...variables });
    await expect(asking).rejects.toMatchObject({ fault: 'connection' });
    expect(proxy.asked).toEqual([]);
  });

  it('is reached without it on this machine', async () => {
    llm.script(answerReply('hello'));
    await expect(ask(llm.baseUrl, { HTTP_PROXY: proxyUrl() })).resolves.toBe('hello');
    expect(proxy.asked).toEqual([]);
  });

  it('and a proxy that refuses are a failed connection; its password shows nowhere', async () => {
    const asking = ask('http://models.test/v1', { HTTP_PROXY: proxyUrl('wrong-word') });
    await expect(asking).rejects.toMatchObject({ fault: 'connection', message: 'the model could not be reached' });
    expect(logger.lines).toHaveLength(1);
    expect(JSON.stringify(logger.lines)).not.toContain('wrong-word');
  });

  it('loses its connection as soon as the run is aborted', async () => {
    llm.script({ steps: [text('He'), HANG] });
    const abort = new AbortController();
    const asking = ask('http://models.test/v1', { HTTP_PROXY: proxyUrl() }, abort.signal);
    while (llm.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    abort.abort(new Error('stop'));
    await expect(asking).rejects.toThrow('stop');
    await expect(llm.requests[0]!.ended).resolves.toBe('cut');
  });
});

it('URLs that callers name never go through a proxy', async () => {
  const { fetch } = aConfig({ HTTP_PROXY: proxyUrl() });
  const outgoing = new OutgoingFetch(fetch, () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]));
  const fetching = outgoing.fetchBytes('http://models.test/a.png', {}, new AbortController().signal);
  await expect(fetching).rejects.toMatchObject({ kind: 'blocked' });
  expect(proxy.asked).toEqual([]);
  await outgoing.close();
});
