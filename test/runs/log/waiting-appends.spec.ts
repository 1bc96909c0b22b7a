import type { HarnessEvent } from '../../../src/events/harness-event.js';
import { WaitingAppends } from '../../../src/runs/log/waiting-appends.js';
import { EngineEvents } from '../../support/fake-runtime.js';

const engine = new EngineEvents({ runId: 'r1', sessionId: 's1' });
const lease = { runId: 'r1', epoch: 1 };

function waiting(events: readonly HarnessEvent[], options = { coalesce: true, deltaMaxBytes: 10 }) {
  const appends = new WaitingAppends(options);
  for (const event of events) void appends.add(lease, event);
  return appends.take()[0]!.events;
}

const texts = (events: readonly HarnessEvent[]): unknown[] =>
  events.map((event) => ('text' in event ? event.text : event.type));

describe('WaitingAppends', () => {
  it('joins deltas of one reason and kind, byte for byte up to the bound', () => {
    expect(texts(waiting(['ab', 'cd', 'ef', 'gh', 'ij', 'k'].map((text) => engine.text('x', text))))).toEqual([
      'abcdefghij',
      'k',
    ]);
    expect(texts(waiting(['啊啊', '啊', '啊'].map((text) => engine.text('x', text))))).toEqual(['啊啊啊', '啊']);
    expect(texts(waiting([engine.text('x', 'longer than the bound'), engine.text('x', 'a')]))).toEqual([
      'longer than the bound',
      'a',
    ]);
  });

  it.each([
    ['another reason', [engine.text('x', 'a'), engine.text('y', 'b')]],
    ['another kind', [engine.text('x', 'a'), engine.thinking('x', 'b')]],
    ['another event between', [engine.text('x', 'a'), engine.make('run_start', {}), engine.text('x', 'b')]],
    ['a sub-agent', [engine.text('x', 'a'), { ...engine.text('x', 'b'), runId: 'child' }]],
    ['another stream', [engine.text('x', 'a'), { ...engine.text('x', 'b'), streamId: 'z' }]],
    ['media', [1, 2].map((n) => engine.make('reason_delta', { reasonId: 'x', kind: 'media', media: { n } }))],
  ])('does not join across %s', (_what, events) => {
    expect(waiting(events)).toEqual(events);
  });

  it('joins nothing when it is switched off', () => {
    const events = [engine.text('x', 'a'), engine.text('x', 'b')];
    expect(waiting(events, { coalesce: false, deltaMaxBytes: 10 })).toEqual(events);
  });

  it('changes no event that it was given', () => {
    const first = Object.freeze(engine.text('x', 'a'));
    expect(texts(waiting([first, engine.text('x', 'b')]))).toEqual(['ab']);
    expect(first).toMatchObject({ text: 'a' });
  });

  it('settles every append of a run with its batch, also those that were joined', async () => {
    const appends = new WaitingAppends({ coalesce: true, deltaMaxBytes: 100 });
    const outcomes: string[] = [];
    const note = (name: string, append: Promise<void>): void =>
      void append.then(
        () => outcomes.push(`${name} written`),
        (error: Error) => outcomes.push(`${name} ${error.message}`),
      );
    note('a', appends.add(lease, engine.text('x', 'a')));
    note('b', appends.add(lease, engine.text('x', 'b')));
    note('c', appends.add({ runId: 'r2', epoch: 1 }, engine.text('x', 'c')));
    expect([appends.has('r1'), appends.has('r2'), appends.has('r3'), appends.isEmpty]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    const batch = appends.take();
    expect(appends.isEmpty).toBe(true);
    note('d', appends.add(lease, engine.text('x', 'd')));
    batch[0]!.resolve();
    batch[1]!.reject(new Error('refused'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(outcomes.toSorted()).toEqual(['a written', 'b written', 'c refused']);
  });

  it('keeps the appends of two leases of one run apart', () => {
    const appends = new WaitingAppends({ coalesce: true, deltaMaxBytes: 100 });
    for (const epoch of [1, 2, 1, 2]) void appends.add({ runId: 'r1', epoch }, engine.text('x', String(epoch)));
    const batch = appends.take();
    expect(batch.map((run) => [run.lease.epoch, texts(run.events)])).toEqual([
      [1, ['1']],
      [2, ['2']],
      [1, ['1']],
      [2, ['2']],
    ]);
  });
});
