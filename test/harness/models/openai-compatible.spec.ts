import { Agent } from 'undici';
import {
  ProviderError,
  type ChatEvent,
  type ChatRequest,
  type ModelPicture,
} from '../../../src/harness/ports/chat-model.port.js';
import { OpenAiCompatibleModel, type OpenAiCompatibleOptions } from '../../../src/harness/models/openai-compatible.js';
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
  frame,
  text,
  thinking,
  usage,
  type Reply,
  type ReplyStep,
} from '../../support/fake-llm.js';

let llm: FakeLlm;
let dispatcher: Agent;

beforeEach(async () => {
  llm = await FakeLlm.start();
  dispatcher = new Agent();
});

afterEach(async () => {
  await dispatcher.destroy();
  await llm.close();
});

const aModel = (options: Partial<OpenAiCompatibleOptions> = {}): OpenAiCompatibleModel =>
  new OpenAiCompatibleModel({
    name: 'scripted-1',
    baseUrl: llm.baseUrl,
    apiKey: 'secret-key',
    dispatcher,
    firstByteMs: 2000,
    idleMs: 2000,
    acceptsPictures: true,
    ...options,
  });

const aRequest = (changes: Partial<ChatRequest> = {}): ChatRequest => ({
  runId: 'r1',
  agentName: 'a',
  system: 'Be brief.',
  messages: [{ role: 'user', parts: [{ kind: 'text', text: 'hi' }] }],
  tools: [],
  language: 'en',
  ...changes,
});

interface Heard {
  readonly events: readonly ChatEvent[];
  readonly error: unknown;
}

async function hear(reply: Reply, model = aModel(), signal = new AbortController().signal): Promise<Heard> {
  llm.script(reply);
  const events: ChatEvent[] = [];
  try {
    for await (const event of model.stream(aRequest(), signal)) events.push(event);
    return { events, error: undefined };
  } catch (error) {
    return { events, error };
  }
}

const steps = (...list: readonly ReplyStep[]): Reply => ({ steps: list });
const callsOf = ({ events }: Heard) => events.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []));
const textOf = ({ events }: Heard) => events.map((event) => (event.type === 'text' ? event.text : '')).join('');
const faultOf = ({ error }: Heard) => {
  if (!(error instanceof ProviderError)) throw new Error('no ProviderError', { cause: error });
  const { cause: _cause, ...facts } = error.options;
  return { fault: error.fault, ...facts };
};

describe('OpenAiCompatibleModel', () => {
  it('streams thinking, text, two parallel tool calls and usage', async () => {
    const heard = await hear(
      steps(
        choice({ role: 'assistant', content: null }),
        thinking('think '),
        thinking('hard'),
        text('Let me '),
        text('see.'),
        calls({ index: 0, id: 'c1', function: { name: 'a', arguments: '{"x"' } }),
        calls({ index: 1, id: 'c2', function: { name: 'b', arguments: '' } }),
        calls({ index: 0, function: { arguments: ':1}' } }),
        finish('tool_calls'),
        usage(100, 20, 64),
        DONE,
      ),
    );
    expect(heard.error).toBeUndefined();
    expect(heard.events).toEqual([
      { type: 'thinking', text: 'think ' },
      { type: 'thinking', text: 'hard' },
      { type: 'text', text: 'Let me ' },
      { type: 'text', text: 'see.' },
      { type: 'tool_call', call: { id: 'c1', name: 'a', args: { x: 1 } } },
      { type: 'tool_call', call: { id: 'c2', name: 'b', args: {} } },
      {
        type: 'finish',
        finishReason: 'tool_calls',
        modelVersion: 'scripted-1',
        usage: {
          promptTokens: 100,
          completionTokens: 20,
          totalTokens: 120,
          cacheCreationInputTokens: 0,
          cacheReadInputTokens: 64,
        },
      },
    ]);
  });

  it('uses the connection again after an answer', async () => {
    const sockets = new Set<unknown>();
    dispatcher.on('connect', (origin, targets) => sockets.add(targets.at(-1)));
    const model = aModel();
    for (const word of ['one', 'two', 'three']) {
      expect(textOf(await hear(answerReply(word), model))).toBe(word);
      await llm.requests.at(-1)!.ended;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(llm.requests).toHaveLength(3);
    expect(sockets.size).toBe(1);
  });

  describe('sends', () => {
    const picture: ModelPicture = {
      mimeType: 'image/png',
      bytes: Uint8Array.of(1, 2, 3),
      sha256: 'ab',
      width: 1,
      height: 1,
    };

    it('path, key, usage option and messages as the wire wants them', async () => {
      llm.script(answerReply('ok'));
      const request = aRequest({
        messages: [
          {
            role: 'user',
            parts: [
              { kind: 'text', text: 'look' },
              { kind: 'image', index: 0, ...picture, load: () => Promise.resolve(picture) },
            ],
          },
          { role: 'assistant', text: '', toolCalls: [], runId: 'r0' },
          {
            role: 'assistant',
            text: '',
            thinking: 'hm',
            toolCalls: [
              { id: 'c1', name: 'a', args: { x: 1 } },
              { id: 'c2', name: 'bad name!', args: '{"x": oops' },
            ],
          },
          { role: 'tool', callId: 'c1', toolName: 'a', text: '', isError: false },
          { role: 'tool', callId: 'c2', toolName: 'bad name!', text: 'Not run', isError: true },
          { role: 'assistant', text: 'done', thinking: 'kept to itself', toolCalls: [] },
        ],
        tools: [{ name: 'a', description: 'does a', parameters: { type: 'object' } }],
      });
      for await (const _event of aModel({ baseUrl: `${llm.baseUrl}/` }).stream(request, new AbortController().signal));
      const [{ path, headers, body }] = llm.requests as [(typeof llm.requests)[0]];
      expect(path).toBe('/v1/chat/completions');
      expect(headers).toMatchObject({ authorization: 'Bearer secret-key', 'content-type': 'application/json' });
      expect(body).toEqual({
        model: 'scripted-1',
        stream: true,
        stream_options: { include_usage: true },
        tools: [{ type: 'function', function: { name: 'a', description: 'does a', parameters: { type: 'object' } } }],
        messages: [
          { role: 'system', content: 'Be brief.' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'look' },
              { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID' } },
            ],
          },
          {
            role: 'assistant',
            content: null,
            reasoning_content: 'hm',
            tool_calls: [
              { id: 'c1', type: 'function', function: { name: 'a', arguments: '{"x":1}' } },
              {
                id: 'c2',
                type: 'function',
                function: { name: 'bad_name_', arguments: '{"invalid_arguments":"{\\"x\\": oops"}' },
              },
            ],
          },
          { role: 'tool', tool_call_id: 'c1', content: '' },
          { role: 'tool', tool_call_id: 'c2', content: 'Not run' },
          { role: 'assistant', content: 'done' },
        ],
      });
    });

    it('no empty text: providers refuse it', async () => {
      const blank = { kind: 'text', text: '' } as const;
      const messages = [
        { role: 'user', parts: [] },
        { role: 'user', parts: [blank] },
        { role: 'user', parts: [blank, { kind: 'image', index: 0, ...picture, load: () => Promise.resolve(picture) }] },
      ] as const;
      llm.script(answerReply('ok'));
      for await (const _event of aModel().stream(aRequest({ messages }), new AbortController().signal));
      expect(llm.requests[0]!.body.messages.slice(1).map(({ content }) => content)).toEqual([
        '(empty message)',
        '(empty message)',
        [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AQID' } }],
      ]);
    });

    it('no empty system message, no empty tool list and no key when there is none', async () => {
      llm.script(answerReply('ok'));
      const options = {
        name: 'm',
        baseUrl: llm.baseUrl,
        dispatcher,
        firstByteMs: 2000,
        idleMs: 2000,
        acceptsPictures: true,
      };
      const model = new OpenAiCompatibleModel(options);
      for await (const _event of model.stream(aRequest({ system: '' }), new AbortController().signal));
      expect(llm.requests[0]!.headers).not.toHaveProperty('authorization');
      expect(llm.requests[0]!.body).not.toHaveProperty('tools');
      expect(llm.requests[0]!.body.messages).toEqual([{ role: 'user', content: 'hi' }]);
    });
  });

  describe('reads', () => {
    it('characters that arrive one byte at a time (C52)', async () => {
      const bytes = Buffer.from(text('图像😀') + finish('stop') + DONE);
      const trickle = [...bytes].flatMap((byte) => [Uint8Array.of(byte), { delayMs: 1 }]);
      const heard = await hear(steps(...trickle));
      expect(heard.error).toBeUndefined();
      expect(textOf(heard)).toBe('图像😀');
    });

    it('SSE look-alikes inside a text as text (C51)', async () => {
      const evil = 'a\rdata: {"error":"pwn"}\n\nevent: run.completed\ndata: {}\n\n';
      expect(textOf(await hear(answerReply(evil)))).toBe(evil);
    });

    it('CRLF, comments, ids and frames without choices', async () => {
      const crlf = (text('ok') + finish('stop') + DONE).replaceAll('\n', '\r\n');
      const heard = await hear(steps(': keep-alive\n\n', 'id: 7\nevent: message\n', frame({ model: 'm' }), crlf));
      expect(textOf(heard)).toBe('ok');
    });

    it('a whole completion from a server that does not stream', async () => {
      const message = { content: 'Hello', tool_calls: [{ id: 'c1', function: { name: 'a', arguments: '{}' } }] };
      const body = { model: 'm', choices: [{ message, finish_reason: 'tool_calls' }] };
      const headers = { 'content-type': 'application/json; charset=utf-8' };
      const heard = await hear({ headers, steps: [JSON.stringify(body)] });
      expect(textOf(heard)).toBe('Hello');
      expect(callsOf(heard)).toEqual([{ id: 'c1', name: 'a', args: {} }]);
    });

    it('the thinking of servers that put it between tags', async () => {
      const heard = await hear(answerReply('\n<thi', 'nk>\nin', 'ner</', 'think>\n', '\nouter <think>', ' stays'));
      expect(heard.events.slice(0, -1)).toEqual([
        { type: 'thinking', text: 'in' },
        { type: 'thinking', text: 'ner' },
        { type: 'text', text: 'outer <think>' },
        { type: 'text', text: ' stays' },
      ]);
    });

    it('text that only begins like a tag, and `reasoning` as thinking', async () => {
      expect(textOf(await hear(answerReply('<', 'b>x')))).toBe('<b>x');
      expect(textOf(await hear(answerReply('<')))).toBe('<');
      const heard = await hear(steps(choice({ reasoning: 'hm' }), text('\n\nx'), finish('stop'), DONE));
      expect(heard.events.slice(0, 2)).toEqual([
        { type: 'thinking', text: 'hm' },
        { type: 'text', text: 'x' },
      ]);
    });

    it.each([
      ['length', 'length', 'Maximum tokens reached'],
      ['content_filter', 'content_filter', 'The provider filtered the answer'],
      ['eos', 'other', undefined],
    ])('the finish reason %s', async (reason, finishReason, note) => {
      const { events } = await hear(steps(text('x'), finish(reason), DONE));
      expect(events.at(-1)).toEqual({
        type: 'finish',
        finishReason,
        modelVersion: 'scripted-1',
        ...(note && { note }),
      });
    });

    it('a refusal as text and note', async () => {
      const heard = await hear(
        steps(choice({ refusal: 'I must ' }), choice({ refusal: 'not.' }), finish('stop'), DONE),
      );
      expect(textOf(heard)).toBe('I must not.');
      expect(heard.events.at(-1)).toMatchObject({ note: 'I must not.' });
    });
  });

  describe('puts tool calls together', () => {
    it('when the closing chunk repeats the whole call (C06)', async () => {
      const whole = { index: 0, id: 'call_1', type: 'function', function: { name: 'count', arguments: '{"by":1}' } };
      const heard = await hear(
        steps(
          calls({ index: 0, id: 'call_1', function: { name: 'count', arguments: '{"b' } }),
          calls({ index: 0, function: { arguments: 'y":' } }),
          calls({ index: 0, function: { arguments: '1}' } }),
          choice({ tool_calls: [whole] }, 'tool_calls'),
          DONE,
        ),
      );
      expect(callsOf(heard)).toEqual([{ id: 'call_1', name: 'count', args: { by: 1 } }]);
    });

    it('when each is whole in one delta without index (C58)', async () => {
      const heard = await hear(
        steps(
          calls({ id: 'c1', function: { name: 'a', arguments: '{"x":1}' } }),
          calls({ index: null, id: 'c2', function: { name: 'a', arguments: '{"x":2}' } }),
          finish('tool_calls'),
          DONE,
        ),
      );
      expect(callsOf(heard)).toEqual([
        { id: 'c1', name: 'a', args: { x: 1 } },
        { id: 'c2', name: 'a', args: { x: 2 } },
      ]);
    });

    it('when only the first of three fragments has id and name, and none an index (C58)', async () => {
      const heard = await hear(
        steps(
          calls({ id: 'c1', function: { name: 'a', arguments: '{"x"' } }),
          calls({ function: { arguments: ':' } }),
          calls({ function: { arguments: '1}' } }),
          finish('tool_calls'),
          DONE,
        ),
      );
      expect(callsOf(heard)).toEqual([{ id: 'c1', name: 'a', args: { x: 1 } }]);
    });

    it.each([
      ['an object', { x: { y: 1 } }, { x: { y: 1 } }],
      ['null', null, {}],
      ['an empty text', '', {}],
      ['the text null', 'null', {}],
      ['broken JSON', '{"x": oops}', '{"x": oops}'],
      ['two objects glued together', '{"x":1}{"x":2}', '{"x":1}{"x":2}'],
      ['a list', '[1]', '[1]'],
    ])('whose arguments are %s (C58)', async (_name, given, args) => {
      const heard = await hear(
        steps(calls({ id: 'c1', function: { name: 'a', arguments: given } }), finish('stop'), DONE),
      );
      expect(callsOf(heard)).toEqual([{ id: 'c1', name: 'a', args }]);
    });

    it('when ids are missing: each gets its own', async () => {
      const same = { function: { name: 'a', arguments: '{"x":1}' } };
      const other = { function: { name: 'a', arguments: '{"x":2}' } };
      const heard = callsOf(await hear(steps(calls(same, same), calls(other), calls(other), finish('stop'), DONE)));
      expect(heard.map((call) => call.args)).toEqual([{ x: 1 }, { x: 1 }, { x: 2 }]);
      expect(new Set(heard.map((call) => call.id)).size).toBe(3);
      expect(heard[0]!.id).toMatch(/^call_[0-9a-f-]{36}$/);
    });

    it('when the arguments begin with an empty object', async () => {
      const first = calls({ index: 0, id: 'c1', function: { name: 'a', arguments: '{}' } });
      const rest = ['{"x"', ':1}'].map((piece) => calls({ index: 0, function: { arguments: piece } }));
      const heard = await hear(steps(first, ...rest, finish('tool_calls'), DONE));
      expect(callsOf(heard)).toEqual([{ id: 'c1', name: 'a', args: { x: 1 } }]);
    });

    it('when two calls share index 0, or one id', async () => {
      const one = (id: string, name: string, index = 0) => calls({ index, id, function: { name, arguments: '{}' } });
      const shared = await hear(steps(one('c1', 'a'), one('c2', 'a'), finish('stop'), DONE));
      expect(callsOf(shared).map((call) => call.id)).toEqual(['c1', 'c2']);
      const same = callsOf(await hear(steps(one('same', 'a'), one('same', 'b', 1), finish('stop'), DONE)));
      expect(same.map((call) => call.name)).toEqual(['a', 'b']);
      expect(new Set(same.map((call) => call.id)).size).toBe(2);
    });

    it('when every fragment repeats id and name', async () => {
      const part = (args: string) => calls({ index: 0, id: 'c1', function: { name: 'a', arguments: args } });
      const heard = await hear(steps(part('{"x":'), part('{"y":1}'), part('}'), part(''), finish('stop'), DONE));
      expect(callsOf(heard)).toEqual([{ id: 'c1', name: 'a', args: { x: { y: 1 } } }]);
    });
  });

  describe('ends', () => {
    it('without finish mark are cuts (C62 a)', async () => {
      const heard = await hear(steps(text('He'), text('llo')));
      expect(textOf(heard)).toBe('Hello');
      expect(faultOf(heard)).toEqual({ fault: 'cut', retryable: true });
    });

    it('by [DONE] with a null finish are good (C62 b)', async () => {
      const heard = await hear(steps(text('Hello'), DONE));
      expect(heard.events.at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop' });
      const called = await hear(steps(calls({ id: 'c', function: { name: 'a', arguments: '{}' } }), DONE));
      expect(called.events.at(-1)).toMatchObject({ finishReason: 'tool_calls' });
    });

    it.each([['end of file'], ['broken connection']])(
      'in the middle of arguments yield no call: %s (C62 c)',
      async (how) => {
        const half = calls({ index: 0, id: 'c1', function: { name: 'a', arguments: '{"x":1}' } });
        const heard = await hear(
          steps(half, ...(how === 'broken connection' ? ([DESTROY] satisfies ReplyStep[]) : [])),
        );
        expect(heard.events).toEqual([]);
        expect(faultOf(heard)).toMatchObject({ fault: 'cut', retryable: true });
      },
    );

    it('by length are good (C62 d); stop together with calls gives the calls (C62 e)', async () => {
      expect((await hear(steps(text('x'), finish('length')))).events.at(-1)).toMatchObject({ finishReason: 'length' });
      const heard = await hear(callReply('a', { x: 1 }));
      const stopped = await hear(
        steps(calls({ id: 'c', function: { name: 'a', arguments: '{}' } }), finish('stop'), DONE),
      );
      expect([callsOf(heard).length, callsOf(stopped).length]).toEqual([1, 1]);
    });

    it('are good when the connection breaks or falls silent after the finish mark', async () => {
      expect((await hear(steps(text('x'), finish('stop'), DESTROY))).error).toBeUndefined();
      const silent = await hear(steps(text('x'), finish('stop'), HANG), aModel({ idleMs: 50 }));
      expect(silent.events.at(-1)).toMatchObject({ finishReason: 'stop' });
    });

    it('leave no tool call before the finish mark', async () => {
      llm.script(
        steps(
          calls({ id: 'c', function: { name: 'a', arguments: '{}' } }),
          text('x'),
          { delayMs: 30 },
          finish('stop'),
          DONE,
        ),
      );
      const kinds: string[] = [];
      for await (const event of aModel().stream(aRequest(), new AbortController().signal)) kinds.push(event.type);
      expect(kinds).toEqual(['text', 'tool_call', 'finish']);
    });
  });

  describe('failures', () => {
    it.each([
      [429, true],
      [500, true],
      [503, true],
      [408, true],
      [400, false],
      [401, false],
      [404, false],
      [302, false],
    ])('HTTP %i: retryable %s', async (status, retryable) => {
      const heard = await hear(errorReply(status, 'secret detail of host'));
      expect(faultOf(heard)).toEqual({ fault: 'http', status, retryable });
      expect((heard.error as Error).message).toBe(`the model answered ${status}`);
    });

    it.each([
      [{ 'retry-after': '2' }, 2000],
      [{ 'retry-after-ms': '150', 'retry-after': '9' }, 150],
      [{ 'retry-after': 'soon' }, undefined],
    ])('Retry-After %j is honoured', async (headers, retryAfterMs) => {
      const fault = faultOf(await hear(errorReply(429, 'slow down', headers)));
      expect(fault.retryAfterMs).toBe(retryAfterMs);
    });

    it('Retry-After may be a date', async () => {
      const date = new Date(Date.now() + 10_000).toUTCString();
      const { retryAfterMs } = faultOf(await hear(errorReply(503, 'x', { 'retry-after': date })));
      expect(retryAfterMs).toBeGreaterThan(7000);
      expect(retryAfterMs).toBeLessThanOrEqual(10_000);
    });

    it.each([
      ["This model's maximum context length is 8192 tokens"],
      ['context_length_exceeded'],
      ['prompt is too long: 210000 tokens'],
      ['Range of input length should be … maximum input length'],
      ['request_too_large'],
    ])('an overflow is told from other faults: %s', async (message) => {
      expect(faultOf(await hear(errorReply(400, message)))).toEqual({
        fault: 'overflow',
        status: 400,
        retryable: false,
      });
      const inStream = await hear(steps(frame({ error: { message } })));
      expect(faultOf(inStream)).toEqual({ fault: 'overflow', retryable: false });
    });

    it.each([
      [500, 'image input is not supported - hint: you may need to provide the mmproj'],
      [400, 'messages[1]: unknown variant `image_url`, expected `text`'],
      [400, 'At most 0 image(s) may be provided in one request.'],
      [404, 'No endpoints found that support image input'],
      [400, 'Invalid content type. image_url is only supported by certain models.'],
    ])('a model without eyes is told from other faults: %i %s', async (status, message) => {
      const refusal = { fault: 'no_pictures', retryable: false };
      expect(faultOf(await hear(errorReply(status, message)))).toEqual({ ...refusal, status });
      expect(faultOf(await hear(steps(frame({ error: { message } }))))).toEqual(refusal);
    });

    it('a picture type that a model does not read is no sign of missing eyes', async () => {
      const heard = await hear(errorReply(400, 'this model does not support image/avif'));
      expect(faultOf(heard)).toEqual({ fault: 'http', status: 400, retryable: false });
    });

    it.each([
      [
        'a frame with an error',
        frame({ error: { message: 'secret', code: 'boom' } }),
        { fault: 'other', retryable: true },
      ],
      ['one with a status', frame({ error: { code: 429 } }), { fault: 'http', status: 429, retryable: true }],
      [
        'one with a hopeless status',
        frame({ error: { code: '400' } }),
        { fault: 'http', status: 400, retryable: false },
      ],
      ['an error event', 'event: error\ndata: {"message":"x"}\n\n', { fault: 'other', retryable: true }],
      ['an error object', frame({ object: 'error', code: 503 }), { fault: 'http', status: 503, retryable: true }],
      ['broken JSON', 'data: {"choices":[\n\n', { fault: 'bad_frame', retryable: true }],
      ['a frame of another shape', frame({ choices: 'none' }), { fault: 'bad_frame', retryable: true }],
      ['a frame that is no object', frame(7), { fault: 'bad_frame', retryable: true }],
    ])('in the stream: %s', async (_name, bad, fault) => {
      const heard = await hear(steps(text('He'), bad, text('llo'), finish('stop'), DONE));
      expect(faultOf(heard)).toEqual(fault);
      expect((heard.error as Error).message).not.toContain('secret');
    });

    it('a refused connection', async () => {
      const heard = await hear(answerReply('x'), aModel({ baseUrl: 'http://127.0.0.1:1/v1' }));
      expect(faultOf(heard)).toEqual({ fault: 'connection', retryable: true });
    });

    it('a connection that breaks before the answer', async () => {
      const heard = await hear(steps(DESTROY));
      expect(faultOf(heard)).toMatchObject({ fault: 'cut', retryable: true });
    });

    it('no first byte in time, with and without headers', async () => {
      const heard = await hear(steps(HANG), aModel({ firstByteMs: 60 }));
      expect(faultOf(heard)).toEqual({ fault: 'timeout', retryable: true });
      await expect(llm.requests[0]!.ended).resolves.toBe('cut');
    });

    it('silence inside an answer', async () => {
      const heard = await hear(steps(text('He'), HANG), aModel({ idleMs: 60 }));
      expect(textOf(heard)).toBe('He');
      expect(faultOf(heard)).toEqual({ fault: 'timeout', retryable: true });
    });

    it('a reader that is slow is no silence of the model', async () => {
      llm.script(steps(text('a'), { delayMs: 20 }, text('b'), { delayMs: 350 }, text('c'), finish('stop'), DONE));
      let said = '';
      for await (const event of aModel({ idleMs: 250 }).stream(aRequest(), new AbortController().signal)) {
        if (event.type === 'text') said += event.text;
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
      expect(said).toBe('abc');
    });
  });

  describe('abort', () => {
    it.each([
      ['before the headers arrive', [{ delayMs: 60_000 }]],
      ['in the middle of the answer', [text('He'), HANG]],
    ] as const)('closes the socket at once: %s', async (_name, list) => {
      const abort = new AbortController();
      const hearing = hear(steps(...list), aModel({ firstByteMs: 30_000, idleMs: 30_000 }), abort.signal);
      while (llm.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
      await new Promise((resolve) => setTimeout(resolve, 60));
      const abortedAt = performance.now();
      abort.abort(new Error('stop'));
      expect((await hearing).error).toEqual(new Error('stop'));
      expect(performance.now() - abortedAt).toBeLessThan(1000);
      await expect(llm.requests[0]!.ended).resolves.toBe('cut');
    });

    it('asks nothing when it came before', async () => {
      const abort = new AbortController();
      abort.abort(new Error('stop'));
      expect((await hear(answerReply('x'), aModel(), abort.signal)).error).toEqual(new Error('stop'));
      expect(llm.requests).toHaveLength(0);
    });

    it('by leaving the loop closes the socket too', async () => {
      llm.script(steps(text('He'), HANG));
      for await (const _event of aModel().stream(aRequest(), new AbortController().signal)) break;
      await expect(llm.requests[0]!.ended).resolves.toBe('cut');
    });
  });
});
