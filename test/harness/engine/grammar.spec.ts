import type { EngineEvent } from '../../../src/events/harness-event.js';
import { anEngineInput, FakeTool, record } from '../../support/engine-run.js';
import { assertGrammar } from '../../support/grammar.js';
import { callStep, callTools, say, ScriptedChatModel } from '../../support/scripted-chat-model.js';

/** run_start, reason 1 with two calls, action, reason 2 with text, run_end. */
async function aStream(): Promise<readonly EngineEvent[]> {
  const model = new ScriptedChatModel([callTools(callStep('t', {}, 'c1'), callStep('t', {}, 'c2')), say('do', 'ne')]);
  const { events } = await record(anEngineInput(model, { tools: [new FakeTool('t', () => 'x')] }));
  return events;
}

const changed = (events: readonly EngineEvent[], index: number, fields: object): EngineEvent[] =>
  events.map((event, at) => (at === index ? Object.freeze({ ...event, ...fields }) : event));

describe('assertGrammar', () => {
  it('accepts a good stream and each beginning of it as a broken one', async () => {
    const events = await aStream();
    assertGrammar(events, { end: 'complete' });
    events.forEach((_event, count) => assertGrammar(events.slice(0, count), { end: 'broken' }));
  });

  it('refuses a stream that lacks any one of its events', async () => {
    const events = await aStream();
    events.forEach((_event, left) => {
      const rest = events.filter((_each, index) => index !== left);
      expect(() => assertGrammar(rest, { end: 'complete' })).toThrow();
    });
  });

  it('refuses a stream that has any one of its events twice', async () => {
    const events = await aStream();
    events.forEach((event, index) => {
      const doubled = [...events.slice(0, index), event, ...events.slice(index)];
      expect(() => assertGrammar(doubled, { end: 'complete' })).toThrow();
    });
  });

  it('refuses two neighbours in the wrong order, except where calls may overlap', async () => {
    const events = await aStream();
    for (let index = 1; index < events.length; index += 1) {
      const [before, after] = [events[index - 1]!, events[index]!];
      const swapped = [...events.slice(0, index - 1), after, before, ...events.slice(index + 1)];
      const check = (): void => assertGrammar(swapped, { end: 'complete' });
      if (before.type === 'tool_call_end' && after.type === 'tool_call_start') check();
      else expect(check).toThrow();
    }
  });

  it.each([
    ['another run', 3, { runId: 'r2' }, 'I2'],
    ['another stream', 3, { streamId: 'other' }, 'I2'],
    ['another reason at a tool', 4, { reasonId: 'other' }, 'I7'],
    ['another tool name at the end', 5, { toolName: 'other' }, 'I5'],
    ['an end that says something else', 13, { text: 'other' }, 'I9'],
    ['an end that is wrongly abnormal', 13, { abnormal: true }, 'abnormal'],
    ['a pending end without a pending batch', 13, { reason: 'pending', abnormal: true }, 'I8'],
    ['a negative duration', 5, { durationMs: -1 }, 'I5'],
  ])('refuses %s', async (_name, index, fields, rule) => {
    const events = await aStream();
    expect(() => assertGrammar(changed(events, index, fields), { end: 'complete' })).toThrow(rule);
  });
});
