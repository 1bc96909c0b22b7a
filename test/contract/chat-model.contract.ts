import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { Agent } from 'undici';
import {
  ProviderError,
  type ChatEvent,
  type ChatMessage,
  type ChatModel,
  type ChatRequest,
  type ModelPicture,
} from '../../src/harness/ports/chat-model.port.js';
import type { ProviderLink } from '../../src/harness/models/provider/provider-call.js';
import { DESTROY, FakeLlm, HANG, type Reply, type ReplyStep } from '../support/fake-llm.js';
import { wholeAnswer, type ModelWire, type WireCall } from '../support/model-wires/model-wire.js';

const KEY = 'key-that-nobody-may-see';
const NEVER = new AbortController().signal;

const PICTURE: ModelPicture = {
  mimeType: 'image/png',
  bytes: Uint8Array.of(1, 2, 3),
  sha256: 'ab',
  width: 1,
  height: 1,
};

const aRequest = (changes: Partial<ChatRequest> = {}): ChatRequest => ({
  runId: 'r1',
  agentName: 'a',
  system: 'Be brief.',
  messages: [{ role: 'user', parts: [{ kind: 'text', text: 'hi' }] }],
  tools: [],
  language: 'en',
  ...changes,
});

/** A conversation with two parallel calls, one of them with unreadable arguments and a name and an id of fantasy. */
const HISTORY: readonly ChatMessage[] = [
  { role: 'user', parts: [{ kind: 'text', text: 'count' }] },
  {
    role: 'assistant',
    text: 'I count.',
    thinking: 'hm',
    toolCalls: [
      { id: 'c1', name: 'count', args: { by: 1 } },
      { id: 'functions.count:1', name: 'bad name!', args: '{"by": oops' },
    ],
  },
  { role: 'tool', callId: 'c1', toolName: 'count', text: '1', isError: false },
  { role: 'tool', callId: 'functions.count:1', toolName: 'bad name!', text: 'Not run', isError: true },
  { role: 'assistant', text: '', toolCalls: [] },
  { role: 'assistant', text: 'One.', toolCalls: [] },
  { role: 'user', parts: [{ kind: 'text', text: ' ' }] },
];

interface Heard {
  readonly events: readonly ChatEvent[];
  readonly error: unknown;
}

const said = ({ events }: Heard, kind: 'text' | 'thinking'): string =>
  events.map((event) => (event.type === kind ? event.text : '')).join('');
const callsOf = ({ events }: Heard) => events.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []));
const finishOf = ({ events }: Heard) => events.find((event) => event.type === 'finish');

function faultOf({ error }: Heard): Record<string, unknown> {
  if (!(error instanceof ProviderError)) throw new Error('no ProviderError', { cause: error });
  const { cause: _cause, requestId: _id, ...facts } = error.options;
  return { fault: error.fault, ...facts };
}

/** What every adapter of a provider must do, whatever its wire. */
export function chatModelContract(wire: ModelWire): void {
  describe(`a chat model: ${wire.name}`, () => {
    let provider: FakeLlm;
    let dispatcher: Agent;
    const rejected: unknown[] = [];
    const onRejected = (error: unknown): number => rejected.push(error);

    beforeAll(async () => {
      process.on('unhandledRejection', onRejected);
      provider = await FakeLlm.start({ strict: (body) => wire.faultOf(body) });
      // The SDK of some providers takes a while to load; no time limit of a test should see it.
      provider.script(wholeAnswer(wire, { text: ['warm'] }));
      dispatcher = new Agent();
      await hear(aModel({ firstByteMs: 20_000 }));
    });

    beforeEach(() => provider.reset());

    afterAll(async () => {
      process.off('unhandledRejection', onRejected);
      await dispatcher.destroy();
      await provider.close();
      expect(rejected).toEqual([]);
    });

    function aModel(link: Partial<ProviderLink> = {}): ChatModel {
      return wire.model({
        dispatcher,
        firstByteMs: 5000,
        idleMs: 5000,
        baseUrl: provider.baseUrl,
        apiKey: KEY,
        ...link,
      });
    }

    async function hear(model = aModel(), request = aRequest(), signal = NEVER): Promise<Heard> {
      const events: ChatEvent[] = [];
      try {
        for await (const event of model.stream(request, signal)) events.push(event);
        return { events, error: undefined };
      } catch (error) {
        return { events, error };
      }
    }

    function hearOf(steps: readonly ReplyStep[], model?: ChatModel): Promise<Heard> {
      provider.script({ steps });
      return hear(model);
    }

    const call = (id: string, by: number): WireCall => ({
      id,
      name: 'count',
      args: wire.splitsArguments ? ['{"b', 'y":', `${by}}`] : [`{"by":${by}}`],
    });

    describe('streams', () => {
      it('thinking and text in order, then the finish with the tokens', async () => {
        provider.script(
          wholeAnswer(wire, {
            thinking: ['think ', 'hard'],
            text: ['Hel', 'lo'],
            usage: { input: 100, cached: 64, output: 20 },
          }),
        );
        const heard = await hear();
        expect(heard.error).toBeUndefined();
        expect(heard.events).toEqual([
          { type: 'thinking', text: 'think ' },
          { type: 'thinking', text: 'hard' },
          { type: 'text', text: 'Hel' },
          { type: 'text', text: 'lo' },
          {
            type: 'finish',
            finishReason: 'stop',
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

      it('each piece as soon as it arrives', async () => {
        const [first = '', ...rest] = [...wire.begin({ text: ['one'] })].reverse();
        provider.script({ steps: [...rest.reverse(), first, HANG] });
        const abort = new AbortController();
        for await (const event of aModel().stream(aRequest(), abort.signal)) {
          expect(event).toEqual({ type: 'text', text: 'one' });
          break;
        }
        await expect(provider.requests[0]!.ended).resolves.toBe('cut');
      });

      it('one tool call, and several in parallel, each once and after the text', async () => {
        provider.script(wholeAnswer(wire, { text: ['I count.'], calls: [call('c1', 1)] }));
        provider.script(wholeAnswer(wire, { calls: [call('c1', 1), call('c2', 2)] }));
        const one = await hear();
        expect(one.events.map(({ type }) => type)).toEqual(['text', 'tool_call', 'finish']);
        expect(callsOf(one)).toEqual([{ id: 'c1', name: 'count', args: { by: 1 } }]);
        expect(finishOf(one)).toMatchObject({ finishReason: 'tool_calls' });
        expect(callsOf(await hear())).toEqual([
          { id: 'c1', name: 'count', args: { by: 1 } },
          { id: 'c2', name: 'count', args: { by: 2 } },
        ]);
      });

      it('a call without arguments as an empty object', async () => {
        provider.script(wholeAnswer(wire, { calls: [{ id: 'c1', name: 'now', args: [] }] }));
        expect(callsOf(await hear())).toEqual([{ id: 'c1', name: 'now', args: {} }]);
      });

      it('characters that arrive one byte at a time (C52)', async () => {
        const bytes = Buffer.from([...wire.begin({ text: ['图像😀'] }), ...wire.end({})].join(''));
        const trickle = [...bytes].flatMap((byte) => [Uint8Array.of(byte), { delayMs: 1 }]);
        const heard = await hearOf(trickle);
        expect(heard.error).toBeUndefined();
        expect(said(heard, 'text')).toBe('图像😀');
      });

      it('comments and either kind of line end; text that looks like a frame stays text (C51)', async () => {
        const evil = 'a\rdata: {"error":"pwn"}\n\nevent: run.completed\ndata: {}\n\n';
        const frames = [': ping\n\n', ...wire.begin({ text: [evil] }), ': ping\n\n', ...wire.end({})].join('');
        const unix = frames.replaceAll('\r\n', '\n');
        for (const text of [unix, unix.replaceAll('\n', '\r\n')]) {
          const heard = await hearOf([text]);
          expect(heard.error).toBeUndefined();
          expect(said(heard, 'text')).toBe(evil);
        }
      });

      it.each([
        ['gzip', gzipSync],
        ['br', brotliCompressSync],
        ['deflate', deflateSync],
      ])('an answer that is packed although nobody asked for it: %s', async (packing, pack) => {
        const packed = pack([...wire.begin({ text: ['图像'] }), ...wire.end({})].join(''));
        const headers = { 'content-encoding': packing };
        provider.script({ headers, steps: [packed.subarray(0, 9), { delayMs: 20 }, packed.subarray(9)] });
        provider.script({ headers, steps: [packed.subarray(0, 9), DESTROY] });
        provider.script({ headers, steps: ['this is not packed'] });
        const whole = await hear();
        expect(whole.error).toBeUndefined();
        expect(said(whole, 'text')).toBe('图像');
        expect(faultOf(await hear())).toEqual({ fault: 'cut', retryable: true });
        expect(faultOf(await hear())).toEqual({ fault: 'cut', retryable: true });
      });

      it('no tokens when the provider tells none', async () => {
        provider.script(wholeAnswer(wire, { text: ['x'] }));
        expect(finishOf(await hear())).not.toHaveProperty('usage');
      });

      it.each([
        ['length', 'Maximum tokens reached'],
        ['content_filter', 'The provider filtered the answer'],
      ] as const)('an answer that was cut by the provider: %s', async (finish, note) => {
        provider.script(wholeAnswer(wire, { text: ['half'], finish }));
        const heard = await hear();
        expect(said(heard, 'text')).toBe('half');
        expect(finishOf(heard)).toMatchObject({ finishReason: finish, note });
      });

      it('a request that the safety rules forbid as a finish without text', async () => {
        const heard = await hearOf(wire.blocked());
        expect(heard.events.map(({ type }) => type)).toEqual(['finish']);
        expect(finishOf(heard)).toMatchObject({ finishReason: 'content_filter' });
      });
    });

    describe('sends', () => {
      async function sent(request: ChatRequest): Promise<ReturnType<ModelWire['said']>> {
        provider.script(wholeAnswer(wire, { text: ['ok'] }));
        expect((await hear(aModel(), request)).error).toBeUndefined();
        return wire.said(provider.requests[0]!);
      }

      it('model, key, system prompt, tools and a picture', async () => {
        const parts = [
          { kind: 'text', text: 'look' },
          { kind: 'image', index: 0, ...PICTURE, load: () => Promise.resolve(PICTURE) },
        ] as const;
        const parameters = { type: 'object', properties: { by: { type: 'integer' } }, required: ['by'] };
        const tools = [{ name: 'count', description: 'counts', parameters }];
        expect(await sent(aRequest({ messages: [{ role: 'user', parts }], tools }))).toEqual({
          model: 'scripted-1',
          system: 'Be brief.',
          key: KEY,
          tools: ['count'],
          messages: [{ role: 'user', text: 'look', pictures: ['image/png AQID'] }],
        });
      });

      it('a history in pairs that a strict provider takes: no empty text, no broken arguments', async () => {
        const { messages } = await sent(aRequest({ messages: HISTORY }));
        const [, asked, answered] = messages;
        const ids = asked!.calls!.map(({ id }) => id);
        expect(ids[0]).toBe('c1');
        expect(messages).toEqual([
          { role: 'user', text: 'count' },
          {
            role: 'assistant',
            text: 'I count.',
            calls: [
              { id: ids[0], name: 'count', args: { by: 1 } },
              { id: ids[1], name: 'bad_name_', args: { invalid_arguments: '{"by": oops' } },
            ],
          },
          {
            role: 'tool',
            results: [expect.objectContaining({ id: ids[0], text: '1' }), { id: ids[1], text: 'Not run' }],
          },
          { role: 'assistant', text: 'One.' },
          { role: 'user', text: expect.any(String) as string },
        ]);
        expect(answered!.results).toHaveLength(2);
      });

      it('nothing that a strict provider would take when a result is missing', async () => {
        provider.script(wholeAnswer(wire, { text: ['never'] }));
        const heard = await hear(aModel(), aRequest({ messages: HISTORY.slice(0, 3) }));
        expect(faultOf(heard)).toEqual({ fault: 'http', status: 400, retryable: false });
      });
    });

    describe('ends', () => {
      it('without finish mark are cuts, and keep the text (C62 a)', async () => {
        const heard = await hearOf(wire.begin({ text: ['He', 'llo'] }));
        expect(said(heard, 'text')).toBe('Hello');
        expect(faultOf(heard)).toEqual({ fault: 'cut', retryable: true });
      });

      it.each([['end of file'], ['broken connection']])('in a call yield no call: %s (C62 c)', async (how) => {
        const frames = wire.begin({ calls: [call('c1', 1)] });
        const heard = await hearOf([...frames, ...(how === 'broken connection' ? [DESTROY] : [])] as ReplyStep[]);
        expect(heard.events).toEqual([]);
        expect(faultOf(heard)).toEqual({ fault: 'cut', retryable: true });
      });

      it('in the middle of a frame are cuts', async () => {
        const frames = wire.begin({ text: ['Hello'] }).join('');
        for (const last of [[], [DESTROY]] satisfies ReplyStep[][]) {
          const heard = await hearOf([frames.slice(0, frames.indexOf('Hello') + 3), ...last]);
          expect(faultOf(heard)).toEqual({ fault: 'cut', retryable: true });
          expect(finishOf(heard)).toBeUndefined();
        }
      });

      it('are good when the connection breaks or falls silent after the finish mark', async () => {
        const answer = { text: ['x'], usage: { input: 3, cached: 0, output: 1 } };
        const whole = [...wire.begin(answer), ...wire.end(answer)];
        for (const [last, link] of [
          [DESTROY, {}],
          [HANG, { idleMs: 80 }],
        ] as const) {
          const heard = await hearOf([...whole, last], aModel(link));
          expect(heard.error).toBeUndefined();
          expect(finishOf(heard)).toMatchObject({ finishReason: 'stop', usage: { promptTokens: 3 } });
        }
      });

      it('let the connection be used again', async () => {
        const own = new Agent({ connections: 1 });
        let connections = 0;
        own.on('connect', () => (connections += 1));
        const model = aModel({ dispatcher: own });
        for (const word of ['one', 'two', 'three']) {
          provider.script(wholeAnswer(wire, { text: [word] }));
          expect(said(await hear(model), 'text')).toBe(word);
          await provider.requests.at(-1)!.ended;
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        await own.destroy();
        expect(connections).toBe(1);
      });
    });

    describe('failures', () => {
      it.each([
        [400, false],
        [401, false],
        [403, false],
        [404, false],
        [429, true],
        [500, true],
        [503, true],
        [529, true],
      ])('HTTP %i: retryable %s, and nothing of the provider or the key shows', async (status, retryable) => {
        provider.script(wire.refusal(status, `no, host 10.0.0.7 and ${KEY}`));
        const heard = await hear();
        expect(faultOf(heard)).toEqual({ fault: 'http', status, retryable });
        expect((heard.error as Error).message).toBe(`the model answered ${status}`);
        expect(provider.requests).toHaveLength(1);
      });

      it('the id of a refused request is kept for the log', async () => {
        provider.script(wire.refusal(500, 'no', { 'x-request-id': 'req_7' }));
        expect((await hear()).error).toMatchObject({ options: { requestId: 'req_7' } });
      });

      it('Retry-After is told', async () => {
        provider.script(wire.refusal(429, 'slow down', { 'retry-after': '2' }));
        expect(faultOf(await hear())).toEqual({ fault: 'http', status: 429, retryable: true, retryAfterMs: 2000 });
      });

      it('an overflow and a model without eyes are told from other faults', async () => {
        provider.script(wire.refusal(400, 'prompt is too long: 210000 tokens'));
        provider.script(wire.refusal(400, 'image input is not supported'));
        expect(faultOf(await hear())).toEqual({ fault: 'overflow', status: 400, retryable: false });
        expect(faultOf(await hear())).toEqual({ fault: 'no_pictures', status: 400, retryable: false });
      });

      it.each([
        ['as the first frame', []],
        ['after some text', ['He']],
      ] as const)('an error %s of a stream', async (_name, text) => {
        const before = text.length > 0 ? wire.begin({ text }) : [];
        const heard = await hearOf([...before, wire.reported(429, 'secret of 10.0.0.7'), ...wire.end({})]);
        expect(said(heard, 'text')).toBe(text.join(''));
        expect(faultOf(heard)).toEqual({ fault: 'http', status: 429, retryable: true });
        expect((heard.error as Error).message).toBe('the model answered 429');
      });

      it('a frame that is no JSON', async () => {
        const heard = await hearOf([...wire.begin({ text: ['He'] }), 'data: {"oops\n\n', ...wire.end({})]);
        expect(faultOf(heard)).toEqual({ fault: 'bad_frame', retryable: true });
      });

      it('a web page in place of an answer', async () => {
        const page: Reply = { headers: { 'content-type': 'text/html' }, steps: ['<html>Sign in to the proxy</html>'] };
        provider.script(page);
        const heard = await hear();
        expect(faultOf(heard)).toEqual({ fault: 'bad_frame', retryable: true });
        expect((heard.error as Error).message).toBe('the model sent an unreadable answer');
      });

      it('a refused connection', async () => {
        const model = wire.model({
          ...{ dispatcher, firstByteMs: 5000, idleMs: 5000, apiKey: KEY },
          baseUrl: 'http://127.0.0.1:1/v1',
        });
        expect(faultOf(await hear(model))).toEqual({ fault: 'connection', retryable: true });
      });

      it('no first byte in time', async () => {
        const heard = await hearOf([HANG], aModel({ firstByteMs: 80 }));
        expect(faultOf(heard)).toEqual({ fault: 'timeout', retryable: true });
        await expect(provider.requests[0]!.ended).resolves.toBe('cut');
      });

      it('silence inside an answer', async () => {
        const heard = await hearOf([...wire.begin({ text: ['He'] }), HANG], aModel({ idleMs: 80 }));
        expect(said(heard, 'text')).toBe('He');
        expect(faultOf(heard)).toEqual({ fault: 'timeout', retryable: true });
        await expect(provider.requests[0]!.ended).resolves.toBe('cut');
      });
    });

    describe('abort', () => {
      it.each([
        ['before the headers arrive', (): ReplyStep[] => [{ delayMs: 60_000 }]],
        ['in the middle of the answer', (): ReplyStep[] => [...wire.begin({ text: ['He'] }), HANG]],
      ])('closes the socket at once: %s', async (_name, steps) => {
        const abort = new AbortController();
        provider.script({ steps: steps() });
        const hearing = hear(aModel(), aRequest(), abort.signal);
        while (provider.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
        await new Promise((resolve) => setTimeout(resolve, 50));
        const abortedAt = performance.now();
        abort.abort(new Error('stop'));
        expect((await hearing).error).toEqual(new Error('stop'));
        await expect(provider.requests[0]!.ended).resolves.toBe('cut');
        expect(performance.now() - abortedAt).toBeLessThan(100);
      });

      it('asks nothing when it came before', async () => {
        provider.script(wholeAnswer(wire, { text: ['never'] }));
        expect((await hear(aModel(), aRequest(), AbortSignal.abort(new Error('stop')))).error).toEqual(
          new Error('stop'),
        );
        expect(provider.requests).toHaveLength(0);
      });
    });
  });
}
