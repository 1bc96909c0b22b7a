import type { EventFields, EventType, HarnessEvent } from '../../src/events/harness-event.js';
import type { LoggedEvent } from '../../src/events/projection.js';
import { INITIAL_STATE } from '../../src/events/run-state.js';
import { NO_USAGE } from '../../src/events/values.js';
import { stamp } from '../../src/runs/log/event-rows.js';
import type { Run } from '../../src/runs/run.js';

/** A clock that stands still. */
export const CLOCK = { nowMs: () => 5000 };

/** A row of `runs` that was just inserted. */
export function aRun(changes: Partial<Run> = {}): Run {
  return {
    id: 'r1',
    tenantId: 't1',
    sessionId: 's1',
    ord: 1,
    kind: 'message',
    agent: 'harness_agent',
    invocationId: 'e-1',
    ...INITIAL_STATE,
    language: 'en',
    mode: 'queue',
    onDisconnect: 'continue',
    capabilities: [],
    queueState: 'ready',
    priority: 0,
    leaseOwner: null,
    epoch: 0,
    attempt: 0,
    takeovers: 0,
    lastSeq: 0,
    execMs: 0,
    cancelRequestedAt: null,
    pendingInputs: 0,
    result: null,
    error: null,
    usage: NO_USAGE,
    eventsKept: 'all',
    createdAt: 1000,
    startedAt: null,
    endedAt: null,
    ...changes,
  };
}

/** A life-cycle event of run `r1`. */
export function lifeEvent<T extends EventType>(type: T, fields: EventFields[T], runId = 'r1'): HarnessEvent {
  const common = { runId, at: 1000, agentName: 'harness_agent', sessionId: 's1', streamId: '' };
  return { type, ...common, ...fields } as unknown as HarnessEvent;
}

/** The beginning of a run: what the user said, and the first start. */
export function begun(text: string, runId = 'r1'): HarnessEvent[] {
  const input = { parts: [{ kind: 'text' as const, text }] };
  return [
    lifeEvent('run_queued', { input, queuePosition: 0 }, runId),
    lifeEvent('run_running', { attempt: 1, hasPictures: false }, runId),
  ];
}

/** Events as the log of one run holds them. */
export function logged(events: readonly HarnessEvent[]): LoggedEvent[] {
  return stamp(aRun(), events);
}
