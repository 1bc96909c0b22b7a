import { AppError } from '../../../src/common/app-error.js';
import type { EngineEvent } from '../../../src/events/harness-event.js';
import type { Tool } from '../../../src/harness/ports/tool.port.js';
import { anEngineInput, FakeTool, only, record, the, typesOf } from '../../support/engine-run.js';
import { assertGrammar } from '../../support/grammar.js';
import { callStep, callTools, say, ScriptedChatModel } from '../../support/scripted-chat-model.js';

const CITY = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } },
  required: ['city'],
  additionalProperties: false,
} as const;

async function runCalls(tools: readonly Tool[], ...calls: readonly ReturnType<typeof callStep>[]) {
  const model = new ScriptedChatModel([callTools(...calls), say('done')]);
  const { events, error } = await record(anEngineInput(model, { tools }));
  expect(error).toBeUndefined();
  assertGrammar(events, { end: 'complete' });
  return { events, seen: model.requests[1]!.messages.at(-1)!, model };
}

const brief = (events: readonly EngineEvent[]): string[] =>
  events.flatMap((event) =>
    event.type === 'tool_call_start'
      ? [`+${event.toolName}`]
      : event.type === 'tool_call_end'
        ? [`-${event.toolName}`]
        : [],
  );

describe('tool calls', () => {
  it('tell the tool who calls, with a step key that is stable', async () => {
    const tool = new FakeTool('t', () => 'ok');
    const { events } = await runCalls([tool], callStep('t', { a: 1 }));
    const { callId } = the(events, 'tool_call_start');
    expect(tool.started).toEqual([
      {
        args: { a: 1 },
        context: {
          runId: 'r1',
          sessionId: 's1',
          agentName: 'harness_agent',
          callId,
          stepKey: `tool:${callId}`,
          attempt: 1,
          values: {},
        },
      },
    ]);
  });

  describe('arguments', () => {
    it.each([
      ['a missing field', {}, "must have required property 'city'"],
      ['a wrong type', { city: 7 }, '/city must be string'],
      ['a bad number', { city: 'Oslo', days: 0 }, '/days must be >= 1'],
      ['an unknown field', { city: 'Oslo', x: 1 }, 'must NOT have additional properties ("x")'],
      ['broken JSON', '{"city": oops}', 'must be a JSON object'],
      ['two objects glued together', '{"city":"a"}{"city":"b"}', 'must be a JSON object'],
      ['a list', '[1]', 'must be a JSON object'],
    ])('are checked: %s does not run, and the model sees why', async (_name, args, fault) => {
      const tool = new FakeTool('weather', () => 'sun', 'unsafe', CITY);
      const { events, seen } = await runCalls([tool], callStep('weather', args));
      expect(tool.started).toEqual([]);
      const end = the(events, 'tool_call_end');
      expect(end).toMatchObject({ outcome: 'error', error: { code: 'ARGS_INVALID' } });
      expect(end.error!.message).toContain(fault);
      expect(end.text).toContain(JSON.stringify(CITY));
      expect(end.text).toContain(typeof args === 'string' ? args : JSON.stringify(args));
      expect(seen).toMatchObject({ role: 'tool', isError: true, text: end.text });
    });

    it('that fit are passed on', async () => {
      const tool = new FakeTool('weather', ({ city }) => `sun in ${city as string}`, 'unsafe', CITY);
      const { events } = await runCalls([tool], callStep('weather', { city: 'Oslo', days: 2 }));
      expect(the(events, 'tool_call_end')).toMatchObject({ outcome: 'ok', text: 'sun in Oslo', error: null });
    });

    it('of a tool with a broken schema are an error of the tool', async () => {
      const tool = new FakeTool('odd', () => 'x', 'unsafe', { type: 'no-such-type' });
      const { events } = await runCalls([tool], callStep('odd', {}));
      expect(the(events, 'tool_call_end')).toMatchObject({ outcome: 'error', error: { code: 'TOOL_FAILED' } });
    });

    it('lose lone surrogates before anyone stores them', async () => {
      const tool = new FakeTool('t', ({ q }) => q as string);
      const { events } = await runCalls([tool], callStep('t', { q: 'a\ud83d', '\ude00': [null, '\ud83d\ude00'] }));
      expect(the(events, 'tool_call_start').args).toEqual({ q: 'a\ufffd', '\ufffd': [null, '😀'] });
    });
  });

  it('to an unknown tool answer with the names that exist', async () => {
    const { events } = await runCalls([new FakeTool('echo', () => 'x')], callStep('nope', { q: 'x' }));
    const end = the(events, 'tool_call_end');
    expect(end).toMatchObject({ toolName: 'nope', outcome: 'error', error: { code: 'TOOL_UNKNOWN' } });
    expect(end.text).toContain('Available tools: echo');
  });

  it('that fail say so without telling secrets', async () => {
    const tool = new FakeTool('boom', () => {
      throw new Error('password=hunter2');
    });
    const { events, seen } = await runCalls([tool], callStep('boom'));
    expect(the(events, 'tool_call_end')).toMatchObject({
      outcome: 'error',
      text: 'tool "boom" failed',
      error: { code: 'TOOL_FAILED', message: 'tool "boom" failed' },
    });
    expect(JSON.stringify([events, seen])).not.toContain('hunter2');
  });

  it('that fail with a safe error pass its message on', async () => {
    const tool = new FakeTool('look', () => Promise.reject(AppError.notFound('resource', 'p1')));
    const { events } = await runCalls([tool], callStep('look'));
    expect(the(events, 'tool_call_end').text).toBe('tool "look" failed: resource p1 not found');
  });

  it('that take too long are aborted with outcome timeout', async () => {
    let aborted = false;
    const slow = (_args: unknown, _context: unknown, signal: AbortSignal): Promise<string> =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => (aborted = true));
        setTimeout(() => resolve('late'), 2000).unref();
      });
    const { events } = await runCalls([new FakeTool('slow', slow, 'unsafe', { type: 'object' }, 30)], callStep('slow'));
    expect(the(events, 'tool_call_end')).toMatchObject({
      outcome: 'timeout',
      text: 'tool "slow" did not end within 30 ms',
      error: { code: 'TOOL_TIMEOUT' },
    });
    expect(aborted).toBe(true);
  });

  it('use the default time limit when the tool names none', async () => {
    const model = new ScriptedChatModel([callTools(callStep('slow')), say('done')]);
    const input = anEngineInput(model, { tools: [new FakeTool('slow', () => new Promise(() => undefined))] });
    const { events } = await record({ ...input, limits: { ...input.limits, toolTimeoutMs: 20 } });
    expect(the(events, 'tool_call_end').outcome).toBe('timeout');
  });

  describe('results', () => {
    it('as JSON are marked and read as text', async () => {
      const { events, seen } = await runCalls([new FakeTool('t', () => ({ json: { a: [1, null] } }))], callStep('t'));
      expect(the(events, 'tool_call_end')).toMatchObject({ text: '{"a":[1,null]}', meta: { json: true } });
      expect(seen).toMatchObject({ text: '{"a":[1,null]}' });
    });

    it('as text are not marked', async () => {
      const { events } = await runCalls([new FakeTool('t', () => '{}')], callStep('t'));
      expect(the(events, 'tool_call_end')).not.toHaveProperty('meta');
    });

    it('that are too long are cut in the middle', async () => {
      const { events } = await runCalls([new FakeTool('t', () => `A${'x'.repeat(5000)}Z`)], callStep('t'));
      const { text } = the(events, 'tool_call_end');
      expect(text).toMatch(/^Ax{499}\n… 4002 characters cut …\nx{499}Z$/);
    });

    it('as JSON that was cut are no JSON any more', async () => {
      const { events } = await runCalls([new FakeTool('t', () => ({ json: 'x'.repeat(5000) }))], callStep('t'));
      expect(the(events, 'tool_call_end')).not.toHaveProperty('meta');
    });
  });

  describe('several in one turn', () => {
    /** Each ends only after all have started. */
    function meeting(count: number): () => Promise<string> {
      let open: () => void;
      const all = new Promise<void>((resolve) => (open = resolve));
      let arrived = 0;
      return async () => {
        arrived += 1;
        if (arrived === count) open();
        await all;
        return 'met';
      };
    }

    it('run side by side when all are read_only', async () => {
      const body = meeting(3);
      const tools = ['a', 'b', 'c'].map((name) => new FakeTool(name, body, 'read_only'));
      const { events } = await runCalls(tools, callStep('a'), callStep('b'), callStep('c'));
      expect(brief(events).slice(0, 3)).toEqual(['+a', '+b', '+c']);
      expect(only(events, 'tool_call_end').map((end) => end.outcome)).toEqual(['ok', 'ok', 'ok']);
    });

    it('report the first that ends first, and give results in the order of the calls', async () => {
      const slow = new FakeTool(
        'slow',
        () => new Promise<string>((done) => setTimeout(() => done('s'), 60)),
        'read_only',
      );
      const fast = new FakeTool('fast', () => 'f', 'read_only');
      const { events, model } = await runCalls([slow, fast], callStep('slow'), callStep('fast'));
      expect(brief(events)).toEqual(['+slow', '+fast', '-fast', '-slow']);
      const results = model.requests[1]!.messages.slice(-2);
      expect(results.map((message) => message.role === 'tool' && message.text)).toEqual(['s', 'f']);
    });

    it('run in order when one of them may change something', async () => {
      const tools = [new FakeTool('a', () => 'a', 'read_only'), new FakeTool('b', () => 'b', 'idempotent')];
      const { events } = await runCalls(tools, callStep('a'), callStep('b'), callStep('a', {}, 'again'));
      expect(brief(events)).toEqual(['+a', '-a', '+b', '-b', '+a', '-a']);
    });

    it('start only after their tool_call_start was taken', async () => {
      const tool = new FakeTool('t', () => 'x');
      const model = new ScriptedChatModel([callTools(callStep('t')), say('done')]);
      let startedBefore = -1;
      await record(anEngineInput(model, { tools: [tool] }), undefined, (event) => {
        if (event.type === 'tool_call_start') startedBefore = tool.started.length;
        return false;
      });
      expect(startedBefore).toBe(0);
      expect(tool.started).toHaveLength(1);
    });
  });

  it('without a name do not stop the run', async () => {
    const { events } = await runCalls([], callStep('', {}));
    expect(typesOf(events).at(-1)).toBe('run_end');
    expect(the(events, 'tool_call_end').text).toContain('Available tools: none');
  });
});
