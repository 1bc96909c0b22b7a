import type { EventType } from '../../src/events/harness-event.js';
import {
  INITIAL_STATE,
  isLegalTransition,
  isTerminalStatus,
  RUN_STATUSES,
  stageOf,
  type RunState,
  type RunStatus,
} from '../../src/events/run-state.js';
import { NO_USAGE, type RunError } from '../../src/events/values.js';
import { EVENT_TYPES } from '../support/event-types.js';
import { lifeEvent } from '../support/life-cycle.js';

const RUNNING: RunState = { status: 'running', code: 'CALLING_MODEL', stage: 'reasoning' };
const WAITING: RunState = { status: 'waiting_input', code: 'INPUT_REQUIRED', stage: 'waiting_input' };
const QUEUED = INITIAL_STATE;
const CANCELLING: RunState = { status: 'cancelling', code: 'RUN_CANCELLING', stage: 'acting' };

const error = (code: RunError['code']): RunError => ({ code, message: 'm', retryable: false, stage: 's' });
const end = { artifacts: [], usage: NO_USAGE };
const state = (status: RunStatus, code: string, stage: string): RunState => ({ status, code, stage });
const fields = (own: object): never => own as never;

/** The state that each event leads to, out of a running run unless it says otherwise. */
const TABLE: readonly [EventType, object, RunState, RunState][] = [
  ['run_queued', { input: null, queuePosition: 0 }, QUEUED, QUEUED],
  ['run_running', { attempt: 1, hasPictures: false }, QUEUED, state('running', 'PREPARING', 'preparing')],
  ['run_running', { attempt: 1, hasPictures: true }, QUEUED, state('running', 'ANALYZING_IMAGE', 'analyzing')],
  ['recovered', { attempt: 2, discardAfter: 1 }, RUNNING, QUEUED],
  [
    'progress',
    { code: 'FETCHING_RESOURCES', state: 'active' },
    RUNNING,
    state('running', 'FETCHING_RESOURCES', 'fetching'),
  ],
  ['progress', { code: 'MODEL_RETRY', state: 'active' }, RUNNING, state('running', 'MODEL_RETRY', 'reasoning')],
  ['progress', { code: 'MODEL_FALLBACK', state: 'active' }, RUNNING, state('running', 'MODEL_FALLBACK', 'reasoning')],
  ['progress', { code: 'LOOP_WARNING', state: 'active' }, RUNNING, state('running', 'LOOP_WARNING', 'acting')],
  ['progress', { code: 'MCP_PROGRESS', state: 'active' }, RUNNING, state('running', 'MCP_PROGRESS', 'acting')],
  [
    'progress',
    { code: 'MCP_SERVER_UNAVAILABLE', state: 'failed' },
    RUNNING,
    state('running', 'MCP_SERVER_UNAVAILABLE', 'preparing'),
  ],
  [
    'progress',
    { code: 'GENERATING_IMAGE', state: 'active' },
    RUNNING,
    state('running', 'GENERATING_IMAGE', 'generating'),
  ],
  ['progress', { code: 'FINALIZING', state: 'active' }, RUNNING, state('running', 'FINALIZING', 'finalizing')],
  ...(['run_start', 'context_size', 'reason_start', 'reason_delta', 'reason_end'] as const).map(
    (type): [EventType, object, RunState, RunState] => [
      type,
      {},
      state('running', 'PREPARING', 'preparing'),
      state('running', 'CALLING_MODEL', 'reasoning'),
    ],
  ),
  ...(
    ['action_start', 'tool_call_start', 'tool_call_end', 'action_end', 'plan', 'hitl_pending', 'hitl_decided'] as const
  ).map((type): [EventType, object, RunState, RunState] => [
    type,
    {},
    RUNNING,
    state('running', 'CALLING_TOOL', 'acting'),
  ]),
  ...(['run_end', 'state_delta', 'artifact', 'usage', 'imported', 'steer_accepted', 'steer_applied'] as const).map(
    (type): [EventType, object, RunState, RunState] => [type, {}, RUNNING, RUNNING],
  ),
  ['input_required', {}, RUNNING, WAITING],
  ['answer_accepted', { open: true }, WAITING, WAITING],
  ['answer_accepted', { open: false }, WAITING, QUEUED],
  ['cancelling', { reason: null }, RUNNING, state('cancelling', 'RUN_CANCELLING', 'reasoning')],
  ['run_completed', end, RUNNING, state('completed', 'RUN_COMPLETED', 'completed')],
  ['run_failed', { ...end, error: error('TURN_LIMIT') }, RUNNING, state('failed', 'TURN_LIMIT', 'failed')],
  ['run_cancelled', { ...end, reason: null }, RUNNING, state('cancelled', 'RUN_CANCELLED', 'cancelled')],
  [
    'run_expired',
    { ...end, error: error('QUESTION_EXPIRED') },
    WAITING,
    state('expired', 'QUESTION_EXPIRED', 'expired'),
  ],
];

describe('stageOf', () => {
  it.each(TABLE)('%s %j', (type, own, before, after) => {
    expect(stageOf(lifeEvent(type, fields(own)), before)).toEqual(after);
  });

  it('has a row for every event', () => {
    expect([...new Set(TABLE.map(([type]) => type))].toSorted()).toEqual(EVENT_TYPES.toSorted());
  });

  it('leaves a cancelling run cancelling through all that its executor still writes, until its end', () => {
    for (const [type, own, , after] of TABLE) {
      const next = stageOf(lifeEvent(type, fields(own)), CANCELLING);
      expect(next).toEqual(isTerminalStatus(after.status) ? after : CANCELLING);
    }
  });
});

describe('isLegalTransition', () => {
  const LEGAL: Record<RunStatus, readonly RunStatus[]> = {
    queued: ['queued', 'running', 'cancelled', 'expired'],
    running: ['running', 'waiting_input', 'cancelling', 'completed', 'failed', 'expired', 'queued'],
    waiting_input: ['waiting_input', 'queued', 'cancelled', 'expired'],
    cancelling: ['cancelling', 'cancelled', 'completed', 'failed'],
    completed: [],
    failed: [],
    cancelled: [],
    expired: [],
  };

  it.each(RUN_STATUSES)('from %s', (from) => {
    const to = RUN_STATUSES.filter((status) => isLegalTransition(from, status));
    expect(to.toSorted()).toEqual(LEGAL[from].toSorted());
    expect(isTerminalStatus(from)).toBe(to.length === 0);
  });
});
