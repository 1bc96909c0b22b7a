import { fromJson, fromJsonOrNull } from '../database/columns.js';
import { isTerminalStatus, type RunState, type RunStatus } from '../events/run-state.js';
import type { Capability } from '../events/projection.js';
import type { RunError, RunResult, Usage } from '../events/values.js';
import type { MessageMode, OnDisconnect } from './runs.types.js';

/** `ready` = may be claimed, `blocked` = another run of the session goes first, `none` = not waiting. */
export type QueueState = 'ready' | 'blocked' | 'none';

export type EventsKept = 'all' | 'whole_messages' | 'terminal';

/** A row of `runs`; times in epoch milliseconds. */
export interface Run {
  readonly id: string;
  readonly tenantId: string;
  readonly sessionId: string;
  /** Position in the session, from 1. */
  readonly ord: number;
  readonly kind: 'message' | 'import';
  readonly agent: string;
  readonly invocationId: string;
  readonly status: RunStatus;
  readonly code: string;
  readonly stage: string;
  readonly language: 'zh' | 'en';
  readonly mode: MessageMode | null;
  readonly onDisconnect: OnDisconnect;
  readonly capabilities: readonly Capability[];
  readonly queueState: QueueState;
  readonly priority: number;
  readonly leaseOwner: string | null;
  readonly epoch: number;
  readonly attempt: number;
  readonly takeovers: number;
  readonly lastSeq: number;
  readonly execMs: number;
  readonly cancelRequestedAt: number | null;
  readonly pendingInputs: number;
  readonly result: RunResult | null;
  readonly error: RunError | null;
  readonly usage: Usage;
  /** What of the log is still there: everything, all but deltas, or the terminal event alone. */
  readonly eventsKept: EventsKept;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

type Row = Record<string, unknown>;
const numberOrNull = (value: unknown): number | null => (value === null ? null : Number(value));

/** Reads a row of `SELECT * FROM runs`. */
export function runOf(row: Row): Run {
  return {
    id: row['id'] as string,
    tenantId: row['tenant_id'] as string,
    sessionId: row['session_id'] as string,
    ord: Number(row['ord']),
    kind: row['kind'] as Run['kind'],
    agent: row['agent'] as string,
    invocationId: row['invocation_id'] as string,
    status: row['status'] as RunStatus,
    code: row['code'] as string,
    stage: row['stage'] as string,
    language: row['language'] as Run['language'],
    mode: row['mode'] as MessageMode | null,
    onDisconnect: row['on_disconnect'] as OnDisconnect,
    capabilities: fromJson(row['capabilities']),
    queueState: row['queue_state'] as QueueState,
    priority: Number(row['priority']),
    leaseOwner: row['lease_owner'] as string | null,
    epoch: Number(row['epoch']),
    attempt: Number(row['attempt']),
    takeovers: Number(row['takeovers']),
    lastSeq: Number(row['last_seq']),
    execMs: Number(row['exec_ms']),
    cancelRequestedAt: numberOrNull(row['cancel_requested_at']),
    pendingInputs: Number(row['pending_inputs']),
    result: fromJsonOrNull(row['result']),
    error: fromJsonOrNull(row['error']),
    usage: fromJson(row['token_usage']),
    eventsKept: row['events_kept'] as EventsKept,
    createdAt: Number(row['created_at']),
    startedAt: numberOrNull(row['started_at']),
    endedAt: numberOrNull(row['ended_at']),
  };
}

/** The right to write a run's events: held by one executor, void as soon as the run's epoch moves on. */
export interface Lease {
  readonly runId: string;
  readonly epoch: number;
}

/** The columns that follow a run's state; the one place that sets and clears `active_session_id`. */
export function columnsFor(
  run: Pick<Run, 'sessionId' | 'startedAt' | 'queueState'>,
  state: RunState,
): { readonly status: RunStatus; readonly activeSessionId: string | null; readonly queueState: QueueState } {
  const hasStarted = run.startedAt !== null || state.status === 'running';
  const isActive = hasStarted && !isTerminalStatus(state.status);
  return {
    status: state.status,
    activeSessionId: isActive ? run.sessionId : null,
    // a run that is queued again keeps the session's place, so nothing is ahead of it
    queueState: state.status !== 'queued' ? 'none' : isActive ? 'ready' : run.queueState,
  };
}
