import type { HarnessEvent } from '../../../src/events/harness-event.js';
import type { ImagePart, Part } from '../../../src/events/parts.js';
import type { LoggedEvent } from '../../../src/events/projection.js';
import { isHistory } from '../../../src/runs/log/event-rows.js';
import { traceOf, type PictureLoader } from '../../../src/harness/trace/trace.js';
import { EngineEvents } from '../../support/fake-runtime.js';
import { begun, lifeEvent, logged } from '../../support/life-cycle.js';
import { pairingFault } from '../../support/pairing.js';

const first = new EngineEvents({ runId: 'r1', sessionId: 's1' });
const second = new EngineEvents({ runId: 'r2', sessionId: 's1' });
const call = (callId: string, providerCallId = `p-${callId}`) => ({
  callId,
  providerCallId,
  toolName: 'now',
  args: {},
});
const noPictures: PictureLoader = () => Promise.reject(new Error('no picture is read here'));

/** What the database gives of these runs: their history rows, in order. */
const history = (...runs: readonly (readonly HarnessEvent[])[]): LoggedEvent[] =>
  runs.flatMap((events) => logged(events)).filter(isHistory);

const user = (text: string) => ({ role: 'user', parts: [{ kind: 'text', text }] });
const assistant = (text: string, toolCalls: object[] = [], runId = 'r1') => ({
  role: 'assistant',
  text,
  toolCalls,
  runId,
});
const result = (callId: string, text = 'noon', isError = false) => ({
  role: 'tool',
  callId,
  toolName: 'now',
  text,
  isError,
});
const asked = (id: string) => ({ id, name: 'now', args: {} });

describe('traceOf', () => {
  it('tells users, answers, calls and results of every run in order', () => {
    const events = history(
      [
        ...begun('hi'),
        first.start('x'),
        first.answer('x', 'see', [call('a'), call('b')]),
        first.toolStart('x', 'b'),
        first.toolEnd('x', 'b', 'two'),
        first.toolStart('x', 'a'),
        first.toolEnd('x', 'a', 'one'),
        first.answer('y', 'it is noon'),
      ],
      begun('thanks', 'r2'),
    );
    const { messages, openCalls, turnsTaken } = traceOf(events, 'r2', noPictures);
    expect(messages).toEqual([
      user('hi'),
      assistant('see', [asked('p-a'), asked('p-b')]),
      // strict providers want the results in the order of the calls
      result('p-a', 'one'),
      result('p-b', 'two'),
      assistant('it is noon'),
      user('thanks'),
    ]);
    expect([openCalls, turnsTaken]).toEqual([undefined, 0]);
  });

  it('gives a call that never ran a result that says so', () => {
    const events = history(
      [
        ...begun('hi'),
        first.answer('x', 'see', [call('a'), call('b')]),
        first.toolStart('x', 'a'),
        first.toolEnd('x', 'a'),
      ],
      begun('go on', 'r2'),
    );
    const { messages } = traceOf(events, 'r2', noPictures);
    expect(messages.slice(2, 4)).toEqual([result('p-a'), result('p-b', 'not run: cancelled', true)]);
    expect(pairingFault(messages)).toBeUndefined();
  });

  it('leaves calls open that the run itself still has to make', () => {
    const events = history([
      ...begun('hi'),
      first.answer('x', 'see', [call('a'), call('b'), call('c')]),
      first.toolStart('x', 'a'),
      first.toolEnd('x', 'a'),
      first.toolStart('x', 'b'),
      { ...first.toolEnd('x', 'b', 'lost'), outcome: 'unknown' } as HarnessEvent,
      lifeEvent('recovered', { attempt: 2, discardAfter: 8 }),
      lifeEvent('run_running', { attempt: 2, hasPictures: false }),
    ]);
    const { messages, openCalls, turnsTaken } = traceOf(events, 'r1', noPictures);
    expect(messages.slice(1)).toEqual([
      assistant('see', [asked('p-a'), asked('p-b'), asked('p-c')]),
      result('p-a'),
      result('p-b', 'lost', true),
    ]);
    expect(openCalls).toEqual({ reasonId: 'x', calls: [call('c')] });
    expect(turnsTaken).toBe(1);
    expect(pairingFault(messages, ['p-c'])).toBeUndefined();
  });

  it('keeps a half answer that was cancelled, and forgets one that is repeated', () => {
    const half = (how: 'cancelled' | 'recovered'): HarnessEvent[] => [
      ...begun('hi'),
      { ...first.answer('x', 'half'), interrupted: how } as HarnessEvent,
    ];
    const after = (how: 'cancelled' | 'recovered') =>
      traceOf(history(half(how), begun('and?', 'r2')), 'r2', noPictures).messages;
    expect(after('cancelled')).toEqual([user('hi'), assistant('half'), user('and?')]);
    expect(after('recovered')).toEqual([
      user('hi'),
      { role: 'assistant', text: '(no answer was given)', toolCalls: [] },
      user('and?'),
    ]);
    const own = traceOf(history(half('recovered')), 'r1', noPictures);
    expect(own).toMatchObject({ messages: [user('hi')], turnsTaken: 0, openCalls: undefined });
  });

  it('takes no calls of an interrupted answer as open', () => {
    const events = history([
      ...begun('hi'),
      { ...first.answer('x', 'half', [call('a')]), interrupted: 'cancelled' } as HarnessEvent,
    ]);
    expect(traceOf(events, 'r1', noPictures).openCalls).toBeUndefined();
  });

  it('keeps calls apart whose models gave them the same ids', () => {
    const events = history(
      [
        ...begun('hi'),
        first.answer('x', 'see', [call('a', 'call_1')]),
        first.toolEnd('x', 'a', 'one'),
        first.answer('y', 'so'),
      ],
      [...begun('again', 'r2'), second.answer('z', 'see', [call('b', 'call_1')])],
    );
    const { messages, openCalls } = traceOf(events, 'r2', noPictures);
    expect(openCalls?.calls).toEqual([call('b', 'call_1')]);
    expect(messages.filter((message) => message.role === 'tool')).toEqual([result('call_1', 'one')]);
    expect(pairingFault(messages, ['call_1'])).toBeUndefined();
  });

  it('leaves out what is empty, and hands thinking back', () => {
    const events = history(
      [...begun('hi'), first.answer('x', ''), { ...first.answer('y', 'so'), thinking: 'hm' } as HarnessEvent],
      begun('and?', 'r2'),
    );
    expect(traceOf(events, 'r2', noPictures).messages).toEqual([
      user('hi'),
      { ...assistant('so'), thinking: 'hm' },
      user('and?'),
    ]);
  });

  it('reads imported events like its own, between the runs', () => {
    const imported = (event: object) => lifeEvent('imported', { event: event as never }, 'r2');
    const events = history(
      [...begun('hi'), first.answer('x', 'hello')],
      [
        imported({ author: 'user', content: { role: 'user', parts: [{ text: 'what time?' }] } }),
        imported({
          author: 'a',
          content: { role: 'model', parts: [{ functionCall: { id: 'f1', name: 'now', args: {} } }] },
        }),
        imported({
          author: 'a',
          content: { role: 'user', parts: [{ functionResponse: { id: 'f1', name: 'now', response: { t: 12 } } }] },
        }),
        imported({ author: 'a', content: { role: 'model', parts: [{ text: 'noon' }] } }),
      ],
      begun('thanks', 'r3'),
    );
    const { messages } = traceOf(events, 'r3', noPictures);
    expect(messages).toEqual([
      user('hi'),
      assistant('hello'),
      user('what time?'),
      { role: 'assistant', text: '', toolCalls: [asked('f1')] },
      result('f1', '{"t":12}'),
      { role: 'assistant', text: 'noon', toolCalls: [] },
      user('thanks'),
    ]);
  });

  it('puts a picture that was fetched in the place of its URL, and reads it only when a model asks', async () => {
    const stored: ImagePart = {
      kind: 'image',
      index: 0,
      resourceId: 'p',
      sha256: 'ab',
      mimeType: 'image/png',
      width: 2,
      height: 1,
      bytes: 9,
    };
    const parts: Part[] = [
      { kind: 'image_url', index: 0, resourceId: 'p', url: 'https://example.org/a.png' },
      { kind: 'text', text: 'what is it?' },
      { ...stored, index: 1, resourceId: 'q' },
      { kind: 'wire', dialect: 'adk', value: {} },
    ];
    const queued = lifeEvent('run_queued', { input: { parts }, queuePosition: 0 });
    const running = lifeEvent('run_running', { attempt: 1, hasPictures: true });
    const fetched = lifeEvent('progress', { code: 'FETCHING_RESOURCES', state: 'done', attached: [stored] });
    const loaded: number[] = [];
    const load: PictureLoader = (image) => {
      loaded.push(image.index);
      return Promise.resolve({ mimeType: 'image/png', bytes: new Uint8Array(1), sha256: 'ab', width: 2, height: 1 });
    };
    const before = traceOf(history([queued, running]), 'r1', load).messages;
    expect(before).toMatchObject([{ role: 'user', parts: [{ text: 'what is it?' }, { kind: 'image', index: 1 }] }]);
    const { messages } = traceOf(history([queued, running, fetched]), 'r1', load);
    expect(messages).toMatchObject([
      {
        role: 'user',
        parts: [{ kind: 'image', index: 0, sha256: 'ab' }, { text: 'what is it?' }, { kind: 'image', index: 1 }],
      },
    ]);
    expect(loaded).toEqual([]);
    const message = messages[0];
    if (message?.role === 'user' && message.parts[0]?.kind === 'image') await message.parts[0].load();
    expect(loaded).toEqual([0]);
  });
});
