import { assertNever } from '../common/assert-never.js';
import type { HarnessEvent, ProgressCode } from './harness-event.js';

export const RUN_STATUSES = [
  'queued',
  'running',
  'waiting_input',
  'cancelling',
  'completed',
  'failed',
  'cancelled',
  'expired',
] as const;

export type RunStatus = (typeof RUN_STATUSES)[number];

/** Where a run stands: stamped on each row of its log and on its own row, in one commit. */
export interface RunState {
  readonly status: RunStatus;
  /** Machine key, e.g. `CALLING_MODEL`; the reason of a failed run. */
  readonly code: string;
  readonly stage: string;
}

const STAGE_OF_PROGRESS: Record<ProgressCode, string> = {
  PREPARING: 'preparing',
  FETCHING_RESOURCES: 'fetching',
  ANALYZING_IMAGE: 'analyzing',
  CALLING_MODEL: 'reasoning',
  CALLING_TOOL: 'acting',
  MODEL_RETRY: 'reasoning',
  MODEL_FALLBACK: 'reasoning',
  LOOP_WARNING: 'acting',
  MCP_PROGRESS: 'acting',
  MCP_SERVER_UNAVAILABLE: 'preparing',
  GENERATING_IMAGE: 'generating',
  FINALIZING: 'finalizing',
};

const QUEUED: RunState = { status: 'queued', code: 'RUN_QUEUED', stage: 'queued' };

/** The state of a run before its first event. */
export const INITIAL_STATE: RunState = QUEUED;

/**
 * The state that an event leaves its run in: a pure table. A `cancelling` run stays so through whatever its
 * executor still writes, until its terminal event.
 */
export function stageOf(event: HarnessEvent, previous: RunState): RunState {
  const next = stateAfter(event, previous);
  return previous.status === 'cancelling' && !isTerminalStatus(next.status) ? previous : next;
}

function stateAfter(event: HarnessEvent, previous: RunState): RunState {
  const running = (code: ProgressCode): RunState => ({ status: 'running', code, stage: STAGE_OF_PROGRESS[code] });
  switch (event.type) {
    case 'run_queued':
    case 'recovered':
      return QUEUED;
    case 'run_running':
      return running(event.hasPictures ? 'ANALYZING_IMAGE' : 'PREPARING');
    case 'progress':
      return { ...running(event.code), status: previous.status };
    case 'run_start':
    case 'context_size':
    case 'reason_start':
    case 'reason_delta':
    case 'reason_end':
      return { ...running('CALLING_MODEL'), status: previous.status };
    case 'action_start':
    case 'tool_call_start':
    case 'tool_call_end':
    case 'action_end':
    case 'plan':
    case 'hitl_pending':
    case 'hitl_decided':
      return { ...running('CALLING_TOOL'), status: previous.status };
    case 'run_end':
    case 'state_delta':
    case 'artifact':
    case 'usage':
    case 'imported':
    case 'steer_accepted':
    case 'steer_applied':
      return previous;
    case 'input_required':
      return { status: 'waiting_input', code: 'INPUT_REQUIRED', stage: 'waiting_input' };
    case 'answer_accepted':
      return event.open ? { status: 'waiting_input', code: 'INPUT_REQUIRED', stage: 'waiting_input' } : QUEUED;
    case 'cancelling':
      return { status: 'cancelling', code: 'RUN_CANCELLING', stage: previous.stage };
    case 'run_completed':
      return { status: 'completed', code: 'RUN_COMPLETED', stage: 'completed' };
    case 'run_failed':
      return { status: 'failed', code: event.error.code, stage: 'failed' };
    case 'run_cancelled':
      return { status: 'cancelled', code: 'RUN_CANCELLED', stage: 'cancelled' };
    case 'run_expired':
      return { status: 'expired', code: event.error.code, stage: 'expired' };
    default:
      return assertNever(event);
  }
}

const LEGAL: Record<RunStatus, readonly RunStatus[]> = {
  queued: ['running', 'cancelled', 'expired'],
  running: ['waiting_input', 'cancelling', 'completed', 'failed', 'expired', 'queued'],
  waiting_input: ['queued', 'cancelled', 'expired'],
  cancelling: ['cancelled', 'completed', 'failed'],
  completed: [],
  failed: [],
  cancelled: [],
  expired: [],
};

/** The statuses of runs that have not ended. */
export const UNENDED_STATUSES = RUN_STATUSES.filter((status) => !isTerminalStatus(status));

/** True when a run may go from one status to the other; staying is always legal except at an end. */
export function isLegalTransition(from: RunStatus, to: RunStatus): boolean {
  return LEGAL[from].length === 0 ? false : from === to || LEGAL[from].includes(to);
}

/** True for `completed`, `failed`, `cancelled` and `expired`. */
export function isTerminalStatus(status: RunStatus): boolean {
  return LEGAL[status].length === 0;
}
