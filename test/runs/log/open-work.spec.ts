import { closingEvents, openWorkOf, type Interruption } from '../../../src/runs/log/open-work.js';
import { EngineEvents } from '../../support/fake-runtime.js';
import { aRun, begun, CLOCK, logged } from '../../support/life-cycle.js';

const engine = new EngineEvents({ runId: 'r1', sessionId: 's1' });
const calls = ['c1', 'c2'].map((callId) => ({ callId, providerCallId: callId, toolName: 'now', args: {} }));
const half = [engine.start('x'), engine.thinking('x', 'h'), engine.text('x', 'half '), engine.text('x', 'done')];
const acting = [engine.start('x'), engine.answer('x', 'see', calls), engine.toolStart('x', 'c1')];
const open = (events: readonly Parameters<typeof logged>[0][number][]) =>
  openWorkOf(logged([...begun('hi'), ...events]));

describe('openWorkOf', () => {
  it('finds nothing where everything has its end', () => {
    expect(open([])).toEqual({ reason: undefined, calls: [] });
    expect(open([...half, engine.answer('x', 'half done')])).toEqual({ reason: undefined, calls: [] });
    const both = [engine.toolEnd('x', 'c1'), engine.toolStart('x', 'c2'), engine.toolEnd('x', 'c2')];
    expect(open([...acting, ...both])).toEqual({ reason: undefined, calls: [] });
  });

  it('finds a reason with the text and the thinking that it has so far', () => {
    expect(open(half).reason).toEqual({ reasonId: 'x', seq: 3, at: 1000, text: 'half done', thinking: 'h' });
  });

  it('finds the calls that were started, not those that were only asked for', () => {
    expect(open(acting).calls).toMatchObject([{ callId: 'c1', toolName: 'now', reasonId: 'x' }]);
    expect(open([...acting, engine.toolStart('x', 'c2'), engine.toolEnd('x', 'c1')]).calls).toMatchObject([
      { callId: 'c2' },
    ]);
  });

  it('does not look into sub-agents', () => {
    const parent = { runId: 'r1', taskId: 't', taskIndex: 0, agentName: 'a', description: 'd' };
    expect(open([{ ...engine.start('child'), parent }]).reason).toBeUndefined();
  });
});

describe('closingEvents', () => {
  const run = aRun();

  it('ends a half answer with what it said; a cancelled one stays, a recovered one is repeated', () => {
    const closing = (how: Interruption) => closingEvents(run, open(half), how, CLOCK);
    expect(closing('cancelled')).toEqual([
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
    expect(closing('recovered')).toMatchObject([{ interrupted: 'recovered', text: 'half done' }]);
    for (const how of ['lost', 'failed'] as const) expect(closing(how)).toMatchObject([{ interrupted: 'cancelled' }]);
  });

  it.each([
    ['cancelled', 'cancelled', 'CANCELLED'],
    ['recovered', 'unknown', 'WORKER_LOST'],
    ['lost', 'unknown', 'WORKER_LOST'],
    ['failed', 'unknown', 'RUN_FAILED'],
  ] as const)('ends each open call when the run is %s', (how, outcome, code) => {
    const work = open([...acting, engine.toolStart('x', 'c2')]);
    expect(closingEvents(run, work, how, CLOCK)).toMatchObject([
      { type: 'tool_call_end', callId: 'c1', outcome, error: { code }, reasonId: 'x', durationMs: 4000 },
      { type: 'tool_call_end', callId: 'c2', outcome, error: { code } },
    ]);
  });

  it('closes nothing where nothing is open', () => {
    expect(closingEvents(run, open([]), 'cancelled', CLOCK)).toEqual([]);
  });
});
