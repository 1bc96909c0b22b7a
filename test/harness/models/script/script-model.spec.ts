import type { ChatEvent, ChatMessage, ChatPart, ChatRequest } from '../../../../src/harness/ports/chat-model.port.js';
import { ProviderError } from '../../../../src/harness/ports/chat-model.port.js';
import { ScriptModel } from '../../../../src/harness/models/script/script-model.js';

const open = new AbortController().signal;

const user = (text: string, parts: readonly ChatPart[] = []): ChatMessage => ({
  role: 'user',
  parts: [{ kind: 'text', text }, ...parts],
});
const assistant = (text: string, runId = 'r1'): ChatMessage => ({ role: 'assistant', text, toolCalls: [], runId });
const mend: ChatMessage = { role: 'user', parts: [{ kind: 'text', text: 'mend it' }], fromHarness: true };
const requestOf = (...messages: ChatMessage[]): ChatRequest => ({
  runId: 'r1',
  agentName: 'harness_agent',
  system: 'Be brief.',
  messages,
  tools: [{ name: 'now', description: 'd', parameters: {} }],
  language: 'en',
});

async function turnOf(request: ChatRequest, model = new ScriptModel({ testSteps: true })): Promise<ChatEvent[]> {
  const events: ChatEvent[] = [];
  for await (const event of model.stream(request, open)) events.push(event);
  return events;
}
const textOf = (events: readonly ChatEvent[]): string =>
  events.map((event) => (event.type === 'text' ? event.text : '')).join('');
const callsOf = (events: readonly ChatEvent[]) =>
  events.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []));

/** What came before a failing turn threw, and what it threw. */
async function failureOf(script: string, model?: ScriptModel): Promise<{ text: string; error: unknown }> {
  const events: ChatEvent[] = [];
  try {
    for await (const event of (model ?? new ScriptModel({ testSteps: true })).stream(requestOf(user(script)), open))
      events.push(event);
  } catch (error) {
    return { text: textOf(events), error };
  }
  throw new Error('the turn did not fail');
}

describe('ScriptModel', () => {
  it('says a text by word', async () => {
    expect(await turnOf(requestOf(user('say:one two  three')))).toEqual([
      { type: 'text', text: 'one ' },
      { type: 'text', text: 'two  ' },
      { type: 'text', text: 'three' },
      { type: 'finish', finishReason: 'stop', modelVersion: 'script' },
    ]);
  });

  it('answers a text that is no script with the same text', async () => {
    expect(textOf(await turnOf(requestOf(user('Hello; how are you?'))))).toBe('Hello; how are you?');
  });

  it('starts a second text of a turn on its own line', async () => {
    expect(textOf(await turnOf(requestOf(user('say:a;say:b'))))).toBe('a\nb');
  });

  it('thinks before it speaks', async () => {
    expect((await turnOf(requestOf(user('think:hm;say:a')))).slice(0, 2)).toEqual([
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: 'a' },
    ]);
  });

  it('streams every delta in a turn of the event loop of its own', async () => {
    let loopTurns = 0;
    const seen: { text: string; loopTurn: number }[] = [];
    let counting = true;
    const count = (): void => {
      loopTurns += 1;
      if (counting) setImmediate(count);
    };
    setImmediate(count);
    for await (const event of new ScriptModel({ testSteps: false }).stream(requestOf(user('stream:5:0')), open))
      if (event.type === 'text') seen.push({ text: event.text, loopTurn: loopTurns });
    counting = false;
    expect(seen.map(({ text }) => text)).toEqual(['w1 ', 'w2 ', 'w3 ', 'w4 ', 'w5 ']);
    expect(new Set(seen.map(({ loopTurn }) => loopTurn)).size).toBe(5);
  });

  it('stops with the signal, also in the middle of a wait', async () => {
    const abort = new AbortController();
    const reason = new Error('cancelled');
    const stream = new ScriptModel({ testSteps: false }).stream(requestOf(user('stream:2:60000')), abort.signal);
    expect((await stream.next()).value).toEqual({ type: 'text', text: 'w1 ' });
    const second = stream.next();
    abort.abort(reason);
    await expect(second).rejects.toBe(reason);
  });

  it('ends a turn at a tool and goes on in the next', async () => {
    const script = user('say:a;tool:t:300;say:b;tools:u:1,v:2;say:c');
    const first = await turnOf(requestOf(script));
    expect(textOf(first)).toBe('a');
    expect(callsOf(first)).toEqual([{ id: 'call_r1_1_1', name: 't', args: { ms: 300 } }]);
    expect(first.at(-1)).toMatchObject({ type: 'finish', finishReason: 'tool_calls' });
    const second = await turnOf(requestOf(script, assistant('a')));
    expect(textOf(second)).toBe('b');
    expect(callsOf(second).map(({ id, name }) => [id, name])).toEqual([
      ['call_r1_2_1', 'u'],
      ['call_r1_2_2', 'v'],
    ]);
    expect(textOf(await turnOf(requestOf(script, assistant('a'), assistant('b'))))).toBe('c');
  });

  it('counts only the turns of its own run', async () => {
    expect(textOf(await turnOf(requestOf(user('say:old'), assistant('old', 'r0'), user('say:new'))))).toBe('new');
  });

  it('takes a text that arrives during the run as a script of its own, with call ids of its own', async () => {
    const events = await turnOf(requestOf(user('tool:t:1;say:x'), assistant(''), user('say:y;tool:t:1')));
    expect(textOf(events)).toBe('y');
    expect(callsOf(events)[0]?.id).toBe('call_r1_2_1');
  });

  it('says done when the script is over', async () => {
    expect(textOf(await turnOf(requestOf(user('tool:pay:200'), assistant(''))))).toBe('done');
    expect(textOf(await turnOf(requestOf(user('usage:1:2'))))).toBe('done');
  });

  it('gives the same answer again when asked to mend it', async () => {
    const script = user('tool:t:1;say:{"a":1}');
    const request = requestOf(script, assistant(''), assistant('{"a":1}'), mend);
    expect(textOf(await turnOf(request))).toBe('{"a":1}');
  });

  it('calls any tool with the arguments of the script', async () => {
    const events = await turnOf(requestOf(user('call:now:{"time_zone":"Asia/Shanghai"}')));
    expect(callsOf(events)).toEqual([{ id: 'call_r1_1_1', name: 'now', args: { time_zone: 'Asia/Shanghai' } }]);
  });

  it('asks a blocking tool to block', async () => {
    expect(callsOf(await turnOf(requestOf(user('block:long:5')))).map(({ args }) => args)).toEqual([
      { ms: 5, block: true },
    ]);
  });

  it('reports the usage of the turn', async () => {
    expect((await turnOf(requestOf(user('usage:12:3;say:a')))).at(-1)).toMatchObject({
      usage: {
        promptTokens: 12,
        completionTokens: 3,
        totalTokens: 15,
        cacheCreationInputTokens: 0,
        cacheReadInputTokens: 0,
      },
    });
  });

  it('echoes exactly what it received', async () => {
    const picture: ChatPart = {
      kind: 'image',
      index: 0,
      sha256: 'stored',
      mimeType: 'image/png',
      width: 9,
      height: 8,
      load: () =>
        Promise.resolve({ mimeType: 'image/png', bytes: new Uint8Array(1), sha256: 'loaded', width: 4, height: 4 }),
    };
    const call = { id: 'c1', name: 't', args: { ms: 1 } };
    const said: ChatMessage = { role: 'assistant', text: 'x', toolCalls: [call], runId: 'r0' };
    const result: ChatMessage = { role: 'tool', callId: 'c1', toolName: 't', text: 'ok', isError: false };
    const text = textOf(await turnOf(requestOf(user('say:x', [picture]), said, result, user('echo'))));
    const shown: unknown = JSON.parse(JSON.stringify(picture));
    expect(JSON.parse(text)).toEqual([
      {
        system: 'Be brief.',
        messages: [user('say:x', [shown as ChatPart]), said, result, user('echo')],
        tools: ['now'],
        images: ['loaded'],
      },
    ]);
  });

  it.each([
    ['fail:429', { fault: 'http', options: { status: 429, retryable: true } }, ''],
    ['say:a;fail:500', { fault: 'http', options: { status: 500, retryable: true } }, 'a'],
    ['say:a b;fail:cut', { fault: 'cut', options: { retryable: true } }, 'a b'],
    ['fail:overflow', { fault: 'overflow', options: { status: 400, retryable: false } }, ''],
    ['fail:quota', { fault: 'other', message: 'the model failed: quota', options: { retryable: false } }, ''],
    ['ask:q1:a,b', { message: 'the model failed: not_available' }, ''],
  ])('fails as a provider does: %s', async (script, expected, text) => {
    const failure = await failureOf(script);
    expect(failure.error).toBeInstanceOf(ProviderError);
    expect(failure.error).toMatchObject(expected);
    expect(failure.text).toBe(text);
  });

  it('cuts an answer that had no text yet after a few words', async () => {
    const { text } = await failureOf('fail:cut');
    expect(text.split(' ').length).toBeGreaterThan(2);
  });

  it('gives an empty answer', async () => {
    expect(await turnOf(requestOf(user('fail:empty')))).toEqual([
      { type: 'finish', finishReason: 'stop', modelVersion: 'script' },
    ]);
  });

  it('throws an error that no adapter would', async () => {
    const { error, text } = await failureOf('say:a;throw');
    expect(error).not.toBeInstanceOf(ProviderError);
    expect(text).toBe('a');
  });

  it('crashes only where the test steps are switched on', async () => {
    let crashes = 0;
    const crash = (): void => void (crashes += 1);
    await failureOf('crash', new ScriptModel({ testSteps: true, crash }));
    expect(crashes).toBe(1);
    expect(textOf(await turnOf(requestOf(user('crash')), new ScriptModel({ testSteps: false, crash })))).toBe('crash');
    expect(crashes).toBe(1);
  });
});
