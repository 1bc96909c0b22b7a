// The engine and the adapter together, against a strict server: what users reported of systems like this one.
import { Agent } from 'undici';
import type { EngineInput } from '../../../src/harness/engine/engine-input.js';
import { OpenAiCompatibleModel } from '../../../src/harness/models/openai-compatible.js';
import type { ChatMessage } from '../../../src/harness/ports/chat-model.port.js';
import {
  anEngineInput,
  FakeTool,
  type EngineChanges,
  only,
  record,
  the,
  userMessage,
} from '../../support/engine-run.js';
import { assertGrammar } from '../../support/grammar.js';
import {
  answerReply,
  callReply,
  calls,
  choice,
  DESTROY,
  DONE,
  errorReply,
  FakeLlm,
  finish,
  HANG,
  text,
  thinking,
} from '../../support/fake-llm.js';

let llm: FakeLlm;
let dispatcher: Agent;
let counter: FakeTool;

beforeEach(async () => {
  llm = await FakeLlm.start({ strict: true });
  dispatcher = new Agent();
  counter = new FakeTool('count', () => ({ json: counter.started.length }));
});

afterEach(async () => {
  await dispatcher.destroy();
  await llm.close();
});

function anInput(changes: EngineChanges = {}): EngineInput {
  const options = { name: 'scripted-1', firstByteMs: 2000, idleMs: 2000, acceptsPictures: true };
  const model = new OpenAiCompatibleModel({ ...options, baseUrl: llm.baseUrl, dispatcher });
  return anEngineInput(model, { tools: [counter], ...changes });
}

async function run(changes: EngineChanges = {}) {
  const recorded = await record(anInput(changes));
  expect(recorded.error).toBeUndefined();
  assertGrammar(recorded.events, { end: 'complete' });
  return recorded.events;
}

describe('engine and provider', () => {
  it('keep each text once, in the stream and in the next prompt (C05)', async () => {
    llm.script(
      {
        steps: [
          text('He'),
          text('llo'),
          calls({ id: 'c1', function: { name: 'count', arguments: '{}' } }),
          finish('tool_calls'),
          DONE,
        ],
      },
      answerReply('Do', 'ne'),
    );
    const events = await run();
    expect(only(events, 'reason_end').map((end) => end.text)).toEqual(['Hello', 'Done']);
    expect(llm.requests[1]!.body.messages.slice(2)).toEqual([
      {
        role: 'assistant',
        content: 'Hello',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'count', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '1' },
    ]);
  });

  it('run a call that the closing chunk repeats once (C06)', async () => {
    const whole = { index: 0, id: 'call_1', function: { name: 'count', arguments: '{"by":1}' } };
    llm.script(
      {
        steps: [
          calls({ index: 0, id: 'call_1', function: { name: 'count', arguments: '{"b' } }),
          calls({ index: 0, function: { arguments: 'y":' } }),
          calls({ index: 0, function: { arguments: '1}' } }),
          choice({ tool_calls: [whole] }, 'tool_calls'),
          DONE,
        ],
      },
      answerReply('done'),
    );
    const events = await run();
    expect(counter.started.map(({ args }) => args)).toEqual([{ by: 1 }]);
    expect(only(events, 'reason_end')[0]!.toolCalls.map((call) => call.providerCallId)).toEqual(['call_1']);
    expect(llm.requests).toHaveLength(2);
  });

  it('end an endless loop of calls with an error that names the limit (C06)', async () => {
    llm.script(...Array.from({ length: 6 }, (_, index) => callReply('count', {}, `call_${index}`)));
    const input = anInput();
    const events = await run({ limits: { ...input.limits, maxTurns: 4 } });
    expect(counter.started).toHaveLength(4);
    expect(the(events, 'run_end').text).toBe('the run reached its limit of 4 model turns');
  });

  it('bring text through that arrives byte by byte, into stream and prompt (C52)', async () => {
    const said =
      text('图像😀') + calls({ id: 'c1', function: { name: 'count', arguments: '{}' } }) + finish('stop') + DONE;
    const trickle = [...Buffer.from(said)].flatMap((byte) => [Uint8Array.of(byte), { delayMs: 1 }]);
    llm.script({ steps: trickle }, answerReply('ok'));
    const events = await run();
    expect(only(events, 'reason_end')[0]!.text).toBe('图像😀');
    expect(llm.requests[1]!.body.messages[2]!.content).toBe('图像😀');
    expect(JSON.stringify(events)).not.toContain('\ufffd');
  });

  it('use a made-up call id again in the reply, and tell the model of unreadable arguments (C58)', async () => {
    llm.script(
      {
        steps: [
          calls({ function: { name: 'count', arguments: { by: 2 } } }),
          calls({ function: { name: 'count', arguments: '{"by": oops' } }),
          finish('tool_calls'),
          DONE,
        ],
      },
      answerReply('sorry'),
    );
    const events = await run();
    expect(only(events, 'tool_call_end').map(({ outcome, error }) => [outcome, error?.code])).toEqual([
      ['ok', undefined],
      ['error', 'ARGS_INVALID'],
    ]);
    const [asked, good, bad] = llm.requests[1]!.body.messages.slice(2);
    expect(asked!.tool_calls!.map((call) => call.id)).toEqual([good!.tool_call_id, bad!.tool_call_id]);
    expect(bad!.content).toContain('You sent: {"by": oops');
    expect(the(events, 'run_end').reason).toBe('completed');
  });

  describe('on a cut', () => {
    it('fail with the half text kept (C62 a)', async () => {
      llm.script({ steps: [text('He'), text('llo')] }, answerReply('never'));
      const events = await run();
      expect(the(events, 'reason_end')).toMatchObject({ text: 'Hello', interrupted: 'cancelled' });
      expect(the(events, 'run_end').reason).toBe('provider_error');
      expect(llm.requests).toHaveLength(1);
    });

    it('in the middle of arguments try again and run no half call (C62 c)', async () => {
      const half = calls({ index: 0, id: 'c1', function: { name: 'count', arguments: '{"by"' } });
      llm.script({ steps: [half, DESTROY] }, callReply('count', { by: 3 }), answerReply('done'));
      const events = await run();
      expect(counter.started.map(({ args }) => args)).toEqual([{ by: 3 }]);
      expect(the(events, 'progress').code).toBe('MODEL_RETRY');
    });
  });

  it.each([
    ['b: [DONE] with a null finish', [text('Hello'), DONE], 'stop'],
    ['d: length', [text('Hello'), finish('length'), DONE], 'length'],
  ])('complete (C62 %s)', async (_name, steps, finishReason) => {
    llm.script({ steps });
    const events = await run();
    expect(the(events, 'reason_end').finishReason).toBe(finishReason);
    expect(the(events, 'run_end')).toMatchObject({ reason: 'completed', text: 'Hello' });
  });

  it('run the tools of an answer that says stop (C62 e)', async () => {
    llm.script(
      { steps: [calls({ index: 0, id: 'c1', function: { name: 'count', arguments: '{}' } }), finish('stop'), DONE] },
      answerReply('done'),
    );
    await run();
    expect(counter.started).toHaveLength(1);
  });

  it('send thinking back beside the calls that it led to', async () => {
    const asked = calls({ index: 0, id: 'c1', function: { name: 'count', arguments: '{}' } });
    llm.script(
      { steps: [thinking('I need '), thinking('a number'), asked, finish('tool_calls'), DONE] },
      answerReply('1'),
    );
    await run();
    expect(llm.requests[1]!.body.messages[2]!.reasoning_content).toBe('I need a number');
  });

  describe('agree on old thinking (C61)', () => {
    const asked = (id: string, thought?: string): ChatMessage => ({
      role: 'assistant',
      text: '',
      ...(thought !== undefined && { thinking: thought }),
      toolCalls: [{ id, name: 'count', args: {} }],
    });
    const result = (callId: string): ChatMessage => ({
      ...{ role: 'tool', callId, toolName: 'count', text: '1', isError: false },
    });
    const thoughts = (request: number): unknown[] =>
      llm.requests[request]!.body.messages.filter((m) => m.tool_calls).map((m) => m.reasoning_content);
    const history = (first?: string, second?: string): ChatMessage[] => [
      ...[userMessage('a'), asked('c1', first), result('c1'), asked('c2', second), result('c2')],
      ...[{ role: 'assistant', text: 'one', toolCalls: [] } as const, userMessage('b')],
    ];
    const missing = errorReply(400, 'Missing `reasoning_content` field in the assistant message at message index 2');
    const unwanted = errorReply(400, "property 'reasoning_content' is unsupported");

    it.each([
      ['history from before it was kept', history(), missing, ['(not kept)', '(not kept)']],
      ['history of which a part has it', history('hm'), missing, ['hm', '(not kept)']],
      ['another model that refuses the field', history('hm', 'so'), unwanted, [undefined, undefined]],
      ['that model with a mixed history', history('hm'), unwanted, [undefined, undefined]],
    ])('%s', async (_name, messages, refusal, sent) => {
      llm.script(refusal, callReply('count', {}), answerReply('done'));
      const events = await run({ messages });
      expect(the(events, 'run_end')).toMatchObject({ reason: 'completed', text: 'done' });
      expect(only(events, 'progress')).toEqual([]);
      expect(thoughts(1)).toEqual(sent);
      // What was learnt holds: no other request is refused first.
      expect(llm.requests).toHaveLength(3);
    });

    it('and give up when the field is not why', async () => {
      llm.script(missing, missing, answerReply('never'));
      const events = await run({ messages: history() });
      expect(the(events, 'run_end')).toMatchObject({ reason: 'provider_error', text: 'the model answered 400' });
      expect(llm.requests).toHaveLength(2);
    });
  });

  it('go on after a 429 and a 500', async () => {
    llm.script(errorReply(429, 'busy', { 'retry-after': '0' }), errorReply(500, 'oops'), answerReply('ok'));
    const events = await run();
    expect(only(events, 'progress').map((event) => event.detail?.attempt)).toEqual([2, 3]);
    expect(the(events, 'run_end').text).toBe('ok');
  });

  it('close the connection to the provider when the run is aborted', async () => {
    llm.script({ steps: [text('He'), HANG] });
    const aborted = await record(anInput(), undefined, (event) => event.type === 'reason_delta');
    expect(aborted.error).toEqual(new Error('stop'));
    expect(aborted.endedAfterAbortMs).toBeLessThan(100);
    await expect(llm.requests[0]!.ended).resolves.toBe('cut');
  });
});
