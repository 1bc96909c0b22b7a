import { columnsFor, runOf } from '../../src/runs/run.js';
import { RUN_STATUSES, type RunState, type RunStatus } from '../../src/events/run-state.js';
import { aRun } from '../support/life-cycle.js';

const inState = (status: RunStatus): RunState => ({ status, code: 'C', stage: 's' });

describe('columnsFor', () => {
  it.each([
    ['queued', null, 'ready', null, 'ready'],
    ['queued', null, 'blocked', null, 'blocked'],
    // a run that is queued again keeps its session, so nothing goes before it
    ['queued', 1000, 'none', 's1', 'ready'],
    ['running', null, 'ready', 's1', 'none'],
    ['running', 1000, 'none', 's1', 'none'],
    ['waiting_input', 1000, 'none', 's1', 'none'],
    ['cancelling', 1000, 'none', 's1', 'none'],
    ['completed', 1000, 'none', null, 'none'],
    ['failed', 1000, 'none', null, 'none'],
    ['cancelled', null, 'ready', null, 'none'],
    ['expired', null, 'blocked', null, 'none'],
  ] as const)('%s, started at %s, in the queue %s', (status, startedAt, queueState, activeSessionId, after) => {
    expect(columnsFor(aRun({ startedAt, queueState }), inState(status))).toEqual({
      status,
      activeSessionId,
      queueState: after,
    });
  });

  it('never holds the session of a run that is over, and always that of one that works', () => {
    for (const status of RUN_STATUSES) {
      const { activeSessionId } = columnsFor(aRun({ startedAt: 1000 }), inState(status));
      expect(activeSessionId === null).toBe(['completed', 'failed', 'cancelled', 'expired'].includes(status));
    }
  });
});

describe('runOf', () => {
  it('reads the row of either database: numbers as text, JSON as text or as an object', () => {
    const row = {
      id: 'r1',
      tenant_id: 't1',
      session_id: 's1',
      ord: '2',
      kind: 'message',
      agent: 'a',
      invocation_id: 'e-1',
      status: 'failed',
      code: 'AGENT_ERROR',
      stage: 'failed',
      language: 'zh',
      mode: null,
      on_disconnect: 'cancel',
      capabilities: '["vision"]',
      queue_state: 'none',
      priority: '-1',
      lease_owner: null,
      epoch: '3',
      attempt: 1,
      takeovers: 0,
      last_seq: '9',
      exec_ms: '12',
      cancel_requested_at: null,
      pending_inputs: 0,
      result: null,
      error: { code: 'AGENT_ERROR', message: 'm', retryable: false, stage: 's' },
      token_usage: '{"inputTokens":1}',
      events_kept: 'all',
      created_at: '1796000000000',
      started_at: 1796000000001,
      ended_at: null,
    };
    expect(runOf(row)).toEqual({
      id: 'r1',
      tenantId: 't1',
      sessionId: 's1',
      ord: 2,
      kind: 'message',
      agent: 'a',
      invocationId: 'e-1',
      status: 'failed',
      code: 'AGENT_ERROR',
      stage: 'failed',
      language: 'zh',
      mode: null,
      onDisconnect: 'cancel',
      capabilities: ['vision'],
      queueState: 'none',
      priority: -1,
      leaseOwner: null,
      epoch: 3,
      attempt: 1,
      takeovers: 0,
      lastSeq: 9,
      execMs: 12,
      cancelRequestedAt: null,
      pendingInputs: 0,
      result: null,
      error: { code: 'AGENT_ERROR', message: 'm', retryable: false, stage: 's' },
      usage: { inputTokens: 1 },
      eventsKept: 'all',
      createdAt: 1796000000000,
      startedAt: 1796000000001,
      endedAt: null,
    });
  });
});
