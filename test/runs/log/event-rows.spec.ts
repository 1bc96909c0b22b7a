import { NO_USAGE } from '../../../src/events/values.js';
import { eventOf, isHistory, stamp } from '../../../src/runs/log/event-rows.js';
import { EngineEvents } from '../../support/fake-runtime.js';
import { aRun, begun, lifeEvent, logged } from '../../support/life-cycle.js';

const engine = new EngineEvents({ runId: 'r1', sessionId: 's1' });
const completed = lifeEvent('run_completed', {
  result: { type: 'text', data: { text: '' } },
  artifacts: [],
  usage: NO_USAGE,
});

describe('stamp', () => {
  it('goes on from the locked row, each event with the state that it leaves', () => {
    const run = aRun({ lastSeq: 7, status: 'running', code: 'PREPARING', stage: 'preparing' });
    expect(stamp(run, [engine.start('x'), engine.toolStart('x', 'c'), completed])).toMatchObject([
      { type: 'reason_start', seq: 8, status: 'running', code: 'CALLING_MODEL', stage: 'reasoning' },
      { type: 'tool_call_start', seq: 9, status: 'running', code: 'CALLING_TOOL', stage: 'acting' },
      { type: 'run_completed', seq: 10, status: 'completed', code: 'RUN_COMPLETED', stage: 'completed' },
    ]);
  });

  it.each([
    ['anything after the end', [...begun('hi'), completed, engine.start('x')]],
    ['a second end', [...begun('hi'), completed, completed]],
    ['an end before the start', [begun('hi')[0]!, completed]],
  ])('refuses %s', (_what, events) => {
    expect(() => logged(events)).toThrow(/run r1 is \w+: \w+ cannot follow/);
  });
});

describe('isHistory', () => {
  const call = { callId: 'c', providerCallId: 'p', toolName: 'now', args: {} };

  it.each([
    ['what the user said', begun('hi')[0]!, true],
    ['a start without new words', lifeEvent('run_queued', { input: null, queuePosition: 0 }), false],
    ['a steer', lifeEvent('steer_applied', { requestId: 'q', input: { parts: [] } }), true],
    ['an answer', engine.answer('x', 'a', [call]), true],
    ['a cancelled half answer', { ...engine.answer('x', 'a'), interrupted: 'cancelled' } as never, true],
    ['a half answer that is repeated', { ...engine.answer('x', 'a'), interrupted: 'recovered' } as never, false],
    ['a result', engine.toolEnd('x', 'c'), true],
    ['an imported event', lifeEvent('imported', { event: {} }), true],
    [
      'a picture that was fetched',
      lifeEvent('progress', { code: 'FETCHING_RESOURCES', state: 'done', attached: [] }),
      true,
    ],
    ['progress', lifeEvent('progress', { code: 'FINALIZING', state: 'active' }), false],
    ['a summary', engine.make('context_size', { summary: 's' } as never), true],
    ['a size', engine.make('context_size', {} as never), false],
    ['a delta', engine.text('x', 'a'), false],
    ['an end', completed, false],
    ['an answer of a sub-agent', engine.ofChild('c').answer('y', 'a'), false],
    ['a result of a sub-agent', engine.ofChild('c').toolEnd('y', 'd'), false],
  ])('%s', (_what, event, expected) => {
    expect(isHistory(event)).toBe(expected);
  });
});

describe('eventOf', () => {
  const row = {
    run_id: 'r1',
    session_id: 's1',
    seq: 3,
    type: 'reason_start',
    status: 'running',
    code: 'CALLING_MODEL',
    stage: 'reasoning',
    at: '1796000000000',
  };
  const event = {
    runId: 'r1',
    sessionId: 's1',
    seq: 3,
    type: 'reason_start',
    status: 'running',
    code: 'CALLING_MODEL',
    stage: 'reasoning',
    at: 1796000000000,
    agentName: 'a',
    streamId: 'x',
    reasonId: 'y',
  };
  const data = { agentName: 'a', streamId: 'x', reasonId: 'y' };

  it('reads JSON that arrives as text or as an object', () => {
    expect(eventOf({ ...row, data: JSON.stringify(data) })).toEqual(event);
    expect(eventOf({ ...row, data })).toEqual(event);
  });

  it('keeps the run of a sub-agent', () => {
    expect(eventOf({ ...row, data: { ...data, runId: 'child' } })).toEqual({ ...event, runId: 'child' });
  });
});
