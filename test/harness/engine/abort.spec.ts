import { runEngine } from '../../../src/harness/engine/run-engine.js';
import { RunInputs } from '../../../src/harness/ports/run-inputs.port.js';
import { anEngineInput, CountingIds, FakeTool, only, record, typesOf } from '../../support/engine-run.js';
import { assertGrammar } from '../../support/grammar.js';
import { callStep, callTools, failWith, say, ScriptedChatModel, textStep } from '../../support/scripted-chat-model.js';

const WITHIN_MS = 100;
const never = (): Promise<string> => new Promise(() => undefined);

/** Aborts a moment after the engine has gone on waiting. */
function abortSoon(): AbortController {
  const abort = new AbortController();
  setTimeout(() => abort.abort(new Error('stop')), 40);
  return abort;
}

describe('an abort', () => {
  it.each([
    ['while a model that obeys streams', [textStep('He'), { waitMs: 60_000 }, textStep('llo')]],
    ['while a model that ignores it streams', [textStep('He'), 'HANG']],
  ] as const)('ends the generator: %s', async (_name, steps) => {
    const model = new ScriptedChatModel([steps]);
    const run = await record(anEngineInput(model), abortSoon());
    expect(run.error).toEqual(new Error('stop'));
    expect(run.endedAfterAbortMs).toBeLessThan(WITHIN_MS);
    expect(typesOf(run.events)).toEqual(['run_start', 'reason_start', 'reason_delta']);
  });

  it('closes the stream of the model', async () => {
    const model = new ScriptedChatModel([[textStep('He'), { waitMs: 60_000 }]]);
    await record(anEngineInput(model), abortSoon());
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(model.closed).toBe(1);
  });

  it.each([['unsafe'], ['read_only']] as const)('leaves %s tools behind that ignore their signal', async (effect) => {
    const tools = ['a', 'b'].map((name) => new FakeTool(name, never, effect));
    const model = new ScriptedChatModel([callTools(callStep('a'), callStep('b')), say('never')]);
    const run = await record(anEngineInput(model, { tools }), abortSoon());
    expect(run.error).toEqual(new Error('stop'));
    expect(run.endedAfterAbortMs).toBeLessThan(WITHIN_MS);
    expect(only(run.events, 'tool_call_end')).toEqual([]);
    expect(tools[1]!.started).toHaveLength(effect === 'unsafe' ? 0 : 1);
    expect(model.requests).toHaveLength(1);
  });

  it('reaches the signal of a running tool', async () => {
    let reason: unknown;
    const tool = new FakeTool('t', (_args, _context, signal) => {
      signal.addEventListener('abort', () => (reason = signal.reason));
      return never();
    });
    await record(anEngineInput(new ScriptedChatModel([callTools(callStep('t'))]), { tools: [tool] }), abortSoon());
    expect(reason).toEqual(new Error('stop'));
  });

  it('ends the wait before a retry', async () => {
    const model = new ScriptedChatModel([[failWith('http', { status: 429, retryAfterMs: 30_000 })], say('never')]);
    const run = await record(anEngineInput(model), abortSoon());
    expect(run.error).toEqual(new Error('stop'));
    expect(run.endedAfterAbortMs).toBeLessThan(WITHIN_MS);
    expect(typesOf(run.events).at(-1)).toBe('progress');
    expect(model.requests).toHaveLength(1);
  });

  it('ends a wait for inputs', async () => {
    class SilentInputs extends RunInputs {
      take(): Promise<never> {
        return new Promise(() => undefined);
      }
      mayEnd(): Promise<boolean> {
        return Promise.resolve(true);
      }
    }
    const run = await record(anEngineInput(new ScriptedChatModel([]), { inputs: new SilentInputs() }), abortSoon());
    expect(run.endedAfterAbortMs).toBeLessThan(WITHIN_MS);
    expect(typesOf(run.events)).toEqual(['run_start']);
  });

  it('between any two events yields nothing more and starts nothing new', async () => {
    const script = [callTools(callStep('t', {}, 'one'), callStep('t', {}, 'two')), say('done')];
    const whole = await record(anEngineInput(new ScriptedChatModel(script), { tools: [new FakeTool('t', () => 'x')] }));
    for (let stopAt = 1; stopAt < whole.events.length; stopAt += 1) {
      const tool = new FakeTool('t', () => 'x');
      const model = new ScriptedChatModel(script);
      const input = anEngineInput(model, { tools: [tool] });
      const run = await record(input, new AbortController(), (_event, count) => count === stopAt);
      expect(run.error).toEqual(new Error('stop'));
      expect(typesOf(run.events)).toEqual(typesOf(whole.events).slice(0, stopAt));
      assertGrammar(run.events, { end: 'broken' });
      const passed = typesOf(run.events).slice(0, -1);
      expect(tool.started).toHaveLength(passed.filter((type) => type === 'tool_call_start').length);
      expect(model.requests).toHaveLength(passed.filter((type) => type === 'reason_start').length);
    }
  });

  it('while an event is being made yields it no more', async () => {
    const abort = new AbortController();
    const ids = new CountingIds();
    const next = (): string => {
      abort.abort(new Error('stop'));
      return ids.next();
    };
    const run = await record(anEngineInput(new ScriptedChatModel([say('x')]), { ids: { next } }), abort);
    expect(typesOf(run.events)).toEqual(['run_start']);
    expect(run.error).toEqual(new Error('stop'));
  });

  it('before the start yields nothing', async () => {
    const abort = new AbortController();
    abort.abort(new Error('stop'));
    const run = await record(anEngineInput(new ScriptedChatModel([say('x')])), abort);
    expect(run).toMatchObject({ events: [], error: new Error('stop') });
  });

  it('that comes after the host accepted the end changes nothing', async () => {
    const abort = new AbortController();
    class LateStop extends RunInputs {
      take(): Promise<[]> {
        return Promise.resolve([]);
      }
      mayEnd(): Promise<boolean> {
        abort.abort(new Error('stop'));
        return Promise.resolve(true);
      }
    }
    const run = await record(anEngineInput(new ScriptedChatModel([say('x')]), { inputs: new LateStop() }), abort);
    expect(run.error).toBeUndefined();
    expect(typesOf(run.events).at(-1)).toBe('run_end');
  });

  it('by leaving the loop closes model and tools', async () => {
    const signals: AbortSignal[] = [];
    const tool = new FakeTool(
      't',
      (_args, _context, signal) => {
        signals.push(signal);
        return never();
      },
      'read_only',
    );
    const model = new ScriptedChatModel([callTools(callStep('t', {}, 'one'), callStep('t', {}, 'two'))]);
    let starts = 0;
    for await (const event of runEngine(anEngineInput(model, { tools: [tool] }), new AbortController().signal)) {
      starts += event.type === 'tool_call_start' ? 1 : 0;
      if (starts === 2) break;
    }
    expect(signals.map((signal) => signal.aborted)).toEqual([true]);
  });
});
