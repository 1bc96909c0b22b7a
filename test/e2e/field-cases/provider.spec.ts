import { AdkClient, strictFrames, textsOf } from '../../support/adk-client.js';
import { effectsOf } from '../../support/effects.js';
import { answerReply, calls, DONE, FakeLlm, finish, text, usage, type Reply } from '../../support/fake-llm.js';
import { startServer, type TestServer } from '../../support/server.js';
import { V1Client, type RunKey, type RunState } from '../../support/v1-client.js';

/** A text that makes the test tool `counter` available to any model. */
const COUNT = 'tool:counter:0';
const counterCall = (args: string): string =>
  calls({ index: 0, id: 'call_1', type: 'function', function: { name: 'counter', arguments: args } });

describe('C62 the end of a provider stream', () => {
  let llm: FakeLlm;
  let server: TestServer;
  let v1: V1Client;

  beforeAll(async () => {
    llm = await FakeLlm.start({ strict: true });
    server = await startServer({ env: llm.env });
    v1 = new V1Client(server);
  });

  beforeEach(() => llm.reset());

  afterAll(async () => {
    await server.dispose();
    await llm.close();
  });

  async function answerTo(...replies: readonly Reply[]): Promise<{ run: RunKey; state: RunState }> {
    llm.script(...replies);
    const run = await v1.send(await v1.session(), COUNT);
    return { run, state: await v1.ended(run) };
  }

  it('(a) text, then nothing: the run fails and keeps the text', async () => {
    const { state } = await answerTo({ steps: [text('half an '), text('answer')] });
    expect(state).toMatchObject({
      status: 'failed',
      code: 'PROVIDER_ERROR',
      error: { code: 'PROVIDER_ERROR', retryable: true, details: { text: 'half an answer' } },
    });
    expect(llm.requests).toHaveLength(1);
  });

  it('(b) [DONE] without any finish_reason: completed', async () => {
    const { state } = await answerTo({ steps: [text('all '), text('of it'), usage(3, 2), DONE] });
    expect(state).toMatchObject({ status: 'completed', result: { data: { text: 'all of it' } } });
  });

  it('(c) the arguments of a call break off: no half call is run', async () => {
    const broken: Reply = { steps: [counterCall('{"ms"')] };
    const { run, state } = await answerTo(broken, broken, broken);
    expect(state).toMatchObject({ status: 'failed', code: 'PROVIDER_ERROR' });
    expect(effectsOf(server, run.runId)).toEqual([]);
    expect((await v1.events(run)).map((event) => event.type)).not.toContain('run.tool_started');
  });

  it('(d) the length limit: completed, and the ADK wire says MAX_TOKENS without an error frame', async () => {
    const cut: Reply = { steps: [text('as long as it may be'), finish('length'), usage(3, 9), DONE] };
    const { run, state } = await answerTo(cut);
    expect(state).toMatchObject({ status: 'completed', result: { data: { text: 'as long as it may be' } } });
    const details = (await v1.events(run)).map((event) => event['detail'] as Record<string, unknown> | undefined);
    expect(details.find((detail) => detail?.['type'] === 'reason_end')).toMatchObject({ finishReason: 'length' });

    llm.script(cut);
    const adk = new AdkClient(Number(new URL(server.http).port));
    const frames = strictFrames(await (await adk.say(await adk.session(), 'hi')).text());
    expect(frames).toHaveLength(1);
    expect(frames[0]).toMatchObject({ finishReason: 'MAX_TOKENS', errorCode: 'MAX_TOKENS' });
    expect(textsOf(frames[0])).toEqual(['as long as it may be']);
  });

  it('(e) "stop" beside tool calls: the tools are run', async () => {
    const { run, state } = await answerTo(
      { steps: [counterCall('{"ms":0}'), finish('stop'), DONE] },
      answerReply('counted'),
    );
    expect(state).toMatchObject({ status: 'completed', result: { data: { text: 'counted' } } });
    expect(effectsOf(server, run.runId)).toHaveLength(1);
  });

  it('a refusal before the first content is tried again, and the log says so', async () => {
    const busy: Reply = {
      status: 429,
      headers: { 'content-type': 'application/json', 'retry-after': '0' },
      steps: ['{}'],
    };
    const { run, state } = await answerTo(busy, answerReply('now'));
    expect(state).toMatchObject({ status: 'completed', result: { data: { text: 'now' } } });
    expect((await v1.events(run)).map((event) => event['code'])).toContain('MODEL_RETRY');
  });

  it('the key of the provider shows nowhere', async () => {
    const { run } = await answerTo({
      status: 401,
      headers: { 'content-type': 'application/json' },
      steps: ['{"error":{"message":"bad key test-key"}}'],
    });
    expect(llm.requests[0]?.headers.authorization).toBe('Bearer test-key');
    expect(JSON.stringify([await v1.page(run), await v1.events(run)])).not.toContain('test-key');
    expect(server.logs()).not.toContain('test-key');
  });
});
