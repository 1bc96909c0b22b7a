import { anEngineInput, FakeTool, only, record, the, typesOf } from '../../support/engine-run.js';
import { assertGrammar } from '../../support/grammar.js';
import {
  callStep,
  failWith,
  say,
  ScriptedChatModel,
  textStep,
  thinkingStep,
} from '../../support/scripted-chat-model.js';

describe('a failing provider', () => {
  it('is asked again while nothing of its answer has come', async () => {
    const model = new ScriptedChatModel([[failWith('http', { status: 500 })], [failWith('connection')], say('ok')]);
    const { events } = await record(anEngineInput(model));
    assertGrammar(events, { end: 'complete' });
    expect(typesOf(events)).toEqual([
      ...['run_start', 'reason_start', 'progress', 'progress', 'reason_delta', 'reason_end', 'run_end'],
    ]);
    const [first, second] = only(events, 'progress');
    expect(first).toMatchObject({ code: 'MODEL_RETRY', state: 'active', detail: { attempt: 2 } });
    expect(second).toMatchObject({ detail: { attempt: 3, delayMs: expect.any(Number) as number } });
    expect(the(events, 'run_end').reason).toBe('completed');
  });

  it('ends the run after the last attempt, with a safe text and no reason_end', async () => {
    const model = new ScriptedChatModel(Array.from({ length: 5 }, () => [failWith('http', { status: 503 })]));
    const { events } = await record(anEngineInput(model));
    assertGrammar(events, { end: 'complete' });
    expect(model.requests).toHaveLength(3);
    expect(only(events, 'reason_end')).toEqual([]);
    expect(the(events, 'run_end')).toMatchObject({
      reason: 'provider_error',
      abnormal: true,
      text: 'the model answered 503',
      meta: { reason: 'PROVIDER_ERROR', fault: 'http', status: 503 },
    });
  });

  it('is not asked again when that makes no sense', async () => {
    const model = new ScriptedChatModel([[failWith('http', { status: 401, retryable: false })], say('never')]);
    const { events } = await record(anEngineInput(model));
    expect(model.requests).toHaveLength(1);
    expect(the(events, 'run_end').reason).toBe('provider_error');
  });

  it('waits as long as the provider asks', async () => {
    const model = new ScriptedChatModel([[failWith('http', { status: 429, retryAfterMs: 120 })], say('ok')]);
    const started = performance.now();
    const { events } = await record(anEngineInput(model));
    expect(performance.now() - started).toBeGreaterThanOrEqual(115);
    expect(the(events, 'progress').detail).toEqual({ attempt: 2, delayMs: 120 });
  });

  it.each([
    ['text', [textStep('Hal'), textStep('f'), failWith('cut')], 'Half', undefined],
    ['thinking', [thinkingStep('hm'), failWith('timeout')], '', 'hm'],
  ])('keeps the half answer: %s', async (_name, steps, text, thinking) => {
    const model = new ScriptedChatModel([steps, say('never')]);
    const { events } = await record(anEngineInput(model));
    assertGrammar(events, { end: 'complete' });
    expect(model.requests).toHaveLength(1);
    const end = the(events, 'reason_end');
    expect(end).toMatchObject({ text, interrupted: 'cancelled', toolCalls: [], finishReason: 'other' });
    expect(end.thinking).toBe(thinking);
    expect(the(events, 'run_end').reason).toBe('provider_error');
    const shown = only(events, 'reason_delta')
      .map((delta) => delta.text)
      .join('');
    expect(shown).toBe(text + (thinking ?? ''));
  });

  it('is not asked again after a tool call, which is not run either', async () => {
    const tool = new FakeTool('t', () => 'x');
    const model = new ScriptedChatModel([[callStep('t'), failWith('cut')], say('never')]);
    const { events } = await record(anEngineInput(model, { tools: [tool] }));
    assertGrammar(events, { end: 'complete' });
    expect(tool.started).toEqual([]);
    expect(model.requests).toHaveLength(1);
    expect(only(events, 'reason_end')).toEqual([]);
  });

  it('that just stops is a cut', async () => {
    const model = new ScriptedChatModel([[textStep('He')]]);
    const { events } = await record(anEngineInput(model));
    expect(the(events, 'run_end')).toMatchObject({ reason: 'provider_error', text: "the model's answer was cut off" });
    expect(the(events, 'reason_end').interrupted).toBe('cancelled');
  });

  it('is named in the language of the run', async () => {
    const model = new ScriptedChatModel([[failWith('overflow', { retryable: false })]]);
    const { events } = await record(anEngineInput(model, { language: 'zh' }));
    expect(the(events, 'run_end').text).toBe('对话内容超出了模型的长度上限');
  });
});
