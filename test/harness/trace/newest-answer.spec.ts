import type { HarnessEvent } from '../../../src/events/harness-event.js';
import type { LoggedEvent } from '../../../src/events/projection.js';
import { traceOf } from '../../../src/harness/trace/trace.js';

let seq = 0;

/** An event of a log, with what the rebuilding of a conversation looks at. */
function logged(runId: string, type: HarnessEvent['type'], fields: object): LoggedEvent {
  seq += 1;
  return { type, runId, seq, status: 'running', code: 'CALLING_MODEL', stage: 'reasoning', ...fields } as LoggedEvent;
}

const asked = (runId: string, text: string): LoggedEvent =>
  logged(runId, 'run_queued', { input: { parts: [{ kind: 'text', text }] } });

const answered = (runId: string, text: string, more: object = {}): LoggedEvent =>
  logged(runId, 'reason_end', { reasonId: `r${seq}`, text, toolCalls: [], finishReason: 'stop', ...more });

const conversation = (runId: string, ...events: readonly LoggedEvent[]) =>
  traceOf(events, runId, () => Promise.reject(new Error('no pictures here')));

const saidTo = ({ messages }: ReturnType<typeof conversation>): string[] =>
  messages.map((message) =>
    message.role === 'user'
      ? message.parts.map((part) => (part.kind === 'text' ? part.text : '')).join()
      : `${message.role}: ${message.text}`,
  );

describe('traceOf', () => {
  it('hands the whole answer of a run that did not end to its judge', () => {
    const found = conversation('b', asked('a', '1'), answered('a', 'one'), asked('b', '2'), answered('b', 'two'));
    expect(found.openAnswer).toEqual({ text: 'two', thinking: '', finishReason: 'stop' });
    expect(saidTo(found)).toEqual(['1', 'assistant: one', '2']);
    expect(found.turnsTaken).toBe(1);
  });

  it.each([
    ['half an answer', answered('b', 'tw', { interrupted: 'cancelled' })],
    [
      'an answer that calls',
      answered('b', 'two', { toolCalls: [{ callId: 'c', providerCallId: 'p', toolName: 't' }] }),
    ],
  ])('has nothing to judge in %s', (_name, last) => {
    const found = conversation('b', asked('b', '2'), last);
    expect(found.openAnswer).toBeUndefined();
    expect(found.messages).toHaveLength(2);
  });

  it('leaves out an answer that the harness refused: roles alternate', () => {
    const bad = answered('a', '{"reply":1}');
    const found = conversation('b', asked('a', '1'), bad, answered('a', '{"reply":"x"}'), asked('b', '2'));
    expect(saidTo(found)).toEqual(['1', 'assistant: {"reply":"x"}', '2']);
  });

  it('keeps thinking that was the answer, and no blank answer', () => {
    const thought = answered('a', '', { thinking: 'it is 4' });
    const found = conversation('b', asked('a', '1'), answered('a', ' '), thought, asked('b', '2'));
    expect(saidTo(found)).toEqual(['1', 'assistant: it is 4', '2']);
  });

  it('does not show the thinking of a broken answer', () => {
    const broken = answered('a', '', { thinking: 'hm', interrupted: 'cancelled' });
    const found = conversation('b', asked('a', '1'), broken, asked('b', '2'));
    expect(saidTo(found)).toEqual(['1', 'assistant: (no answer was given)', '2']);
  });
});
