import type { HarnessEvent } from '../../src/events/harness-event.js';
import { closingEvents, openWorkOf, type Interruption } from '../../src/events/open-work.js';
import { EngineEvents } from '../support/fake-runtime.js';
import { begun, CLOCK } from '../support/life-cycle.js';

const engine = new EngineEvents({ runId: 'r1', sessionId: 's1' });
const calls = ['c1', 'c2'].map((callId) => ({ callId, providerCallId: callId, toolName: 'now', args: {} }));
const half = [engine.start('x'), engine.thinking('x', 'h'), engine.text('x', 'half '), engine.text('x', 'done')];
const acting = [engine.start('x'), engine.answer('x', 'see', calls), engine.toolStart('x', 'c1')];
const open = (events: readonly HarnessEvent[]) => openWorkOf([...begun('hi'), ...events]);
const closing = (events: readonly HarnessEvent[], how: Interruption) => closingEvents(open(events), how, CLOCK.nowMs());
const pending = engine.make('hitl_pending', { pendingTasks: [], questions: [] });

const child = engine.ofChild('c1');
const grandchild = child.ofChild('cc');

describe('openWorkOf', () => {
  it('finds nothing where everything has its end', () => {
    expect(open([])).toEqual({ reasons: [], calls: [] });
    expect(open([...half, engine.answer('x', 'half done')])).toEqual({ reasons: [], calls: [] });
    const both = [engine.toolEnd('x', 'c1'), engine.toolStart('x', 'c2'), engine.toolEnd('x', 'c2')];
    expect(open([...acting, ...both])).toEqual({ reasons: [], calls: [] });
  });

  it('finds a reason with the text and the thinking that it has so far', () => {
    const who = { runId: 'r1', agentName: 'harness_agent', sessionId: 's1' };
    expect(open(half).reasons).toEqual([{ ...who, reasonId: 'x', at: 1000, text: 'half done', thinking: 'h' }]);
  });

  it('finds the calls that were started, not those that were only asked for', () => {
    expect(open(acting).calls).toMatchObject([{ callId: 'c1', toolName: 'now', reasonId: 'x' }]);
    expect(open([...acting, engine.toolStart('x', 'c2'), engine.toolEnd('x', 'c1')]).calls).toMatchObject([
      { callId: 'c2' },
    ]);
  });

  it('finds what sub-agents of every depth have open, the innermost first, under their own names', () => {
    const { reasons, calls: found } = open([
      ...acting,
      ...[child.start('y'), child.answer('y', 'z'), child.toolStart('y', 'cc')],
      ...[grandchild.start('z'), grandchild.text('z', 'deep'), child.toolStart('y', 'beside')],
    ]);
    expect(reasons).toMatchObject([{ reasonId: 'z', text: 'deep', runId: 'child of cc', parent: { taskId: 'cc.1' } }]);
    expect(found.map(({ callId, agentName }) => [callId, agentName])).toEqual([
      ['cc', 'helper'],
      ['beside', 'helper'],
      ['c1', 'harness_agent'],
    ]);
  });

  it('tells calls in which a human is waited for, until they go on', () => {
    const inside = [child.toolStart('y', 'cc')];
    const suspended = (events: readonly HarnessEvent[]) =>
      open(events).calls.map(({ callId, isSuspended }) => [callId, isSuspended]);
    expect(suspended([...acting, ...inside])).toEqual([
      ['cc', false],
      ['c1', false],
    ]);
    expect(suspended([...acting, ...inside, pending])).toEqual([
      ['cc', true],
      ['c1', true],
    ]);
    expect(suspended([...acting, ...inside, pending, engine.toolStart('x', 'c1')])).toEqual([
      ['cc', false],
      ['c1', false],
    ]);
    // a sub-agent that waits is part of a call that still runs
    expect(suspended([...acting, ...inside, child.make('hitl_pending', { pendingTasks: [], questions: [] })])).toEqual([
      ['cc', false],
      ['c1', false],
    ]);
  });
});

describe('closingEvents', () => {
  it('ends a half answer with what it said; a cancelled one stays, a recovered one is repeated', () => {
    expect(closing(half, 'cancelled')).toEqual([
      {
        type: 'reason_end',
        runId: 'r1',
        sessionId: 's1',
        agentName: 'harness_agent',
        streamId: '',
        at: 5000,
        reasonId: 'x',
        text: 'half done',
        thinking: 'h',
        toolCalls: [],
        finishReason: 'other',
        durationMs: 4000,
        interrupted: 'cancelled',
      },
    ]);
    expect(closing(half, 'recovered')).toMatchObject([{ interrupted: 'recovered', text: 'half done' }]);
    for (const how of ['lost', 'failed', 'expired'] as const) {
      expect(closing(half, how)).toMatchObject([{ interrupted: 'cancelled' }]);
    }
  });

  it.each([
    ['cancelled', 'cancelled', 'CANCELLED'],
    ['recovered', 'unknown', 'WORKER_LOST'],
    ['lost', 'unknown', 'WORKER_LOST'],
    ['failed', 'unknown', 'RUN_FAILED'],
    ['expired', 'cancelled', 'RUN_EXPIRED'],
  ] as const)('ends each open call when the run is %s', (how, outcome, code) => {
    expect(closing([...acting, engine.toolStart('x', 'c2')], how)).toMatchObject([
      { type: 'tool_call_end', callId: 'c1', outcome, error: { code }, reasonId: 'x', durationMs: 4000 },
      { type: 'tool_call_end', callId: 'c2', outcome, error: { code } },
    ]);
  });

  it('gives up a sub-agent whose caller goes on: what it said stays, what it called is unknown', () => {
    const inside = [child.start('y'), child.text('y', 'hm')];
    expect(closing([...acting, ...inside], 'recovered')).toMatchObject([
      { type: 'reason_end', runId: 'child of c1', interrupted: 'cancelled', text: 'hm', parent: { taskId: 'c1.1' } },
      { type: 'tool_call_end', runId: 'r1', callId: 'c1', outcome: 'unknown' },
    ]);
  });

  it('leaves calls open in which a human is waited for, if their run goes on', () => {
    const waiting = [...acting, child.toolStart('y', 'cc'), pending];
    expect(closing(waiting, 'recovered')).toEqual([]);
    expect(closing(waiting, 'cancelled')).toMatchObject([{ callId: 'cc', outcome: 'cancelled' }, { callId: 'c1' }]);
    expect(closing([...waiting, engine.toolStart('x', 'c1')], 'recovered')).toMatchObject([
      { callId: 'cc', outcome: 'unknown' },
      { callId: 'c1', outcome: 'unknown' },
    ]);
  });

  it('closes nothing where nothing is open', () => {
    expect(closing([], 'cancelled')).toEqual([]);
  });
});
