import type { EventCommon, EventOf, HarnessEvent } from './harness-event.js';
import { callOfTask } from './task-id.js';

/** Who does a piece of work: its end names the same. */
type Worker = Pick<EventCommon, 'runId' | 'agentName' | 'sessionId' | 'parent'>;

/** A model call without its `reason_end`, with what was streamed of it. */
export interface OpenReason extends Worker {
  readonly reasonId: string;
  /** Epoch milliseconds of its start. */
  readonly at: number;
  readonly text: string;
  readonly thinking: string;
}

/** A tool call without its `tool_call_end`. */
export interface OpenCall extends Worker {
  readonly callId: string;
  readonly toolName: string;
  readonly reasonId: string;
  /** Epoch milliseconds of its start. */
  readonly at: number;
  /** A human is waited for inside of it: it can be gone on with. */
  readonly isSuspended: boolean;
}

/** What a run and its sub-agents have begun and not finished; those of a sub-agent before those of its caller. */
export interface OpenWork {
  readonly reasons: readonly OpenReason[];
  readonly calls: readonly OpenCall[];
}

/** How work was broken off; `recovered`: its worker was lost and the step is repeated, `lost`: it is not. */
export type Interruption = 'cancelled' | 'recovered' | 'lost' | 'failed' | 'expired';

type Call = Omit<OpenCall, 'isSuspended'>;

/** Follows the events of one run, from a point where nothing is open, and knows what is open now. */
export class OpenWorkTracker {
  private readonly reasons = new Map<string, OpenReason>();
  private readonly calls = new Map<string, Call>();
  private readonly suspended = new Set<string>();
  private readonly runIds = new Set<string>();

  add(event: HarnessEvent): void {
    this.runIds.add(event.runId);
    const { at } = event;
    switch (event.type) {
      case 'reason_start':
        this.reasons.set(event.reasonId, { ...workerOf(event), reasonId: event.reasonId, at, text: '', thinking: '' });
        return;
      case 'reason_delta':
        return this.addDelta(event);
      case 'reason_end':
        this.reasons.delete(event.reasonId);
        return;
      case 'tool_call_start': {
        const { callId, toolName, reasonId } = event;
        this.calls.set(callId, { ...workerOf(event), callId, toolName, reasonId, at });
        this.suspended.delete(callId);
        return;
      }
      case 'tool_call_end':
        this.calls.delete(event.callId);
        return;
      case 'hitl_pending':
        // A sub-agent that waits is part of a call that may still be running.
        if (event.parent === undefined) for (const callId of this.calls.keys()) this.suspended.add(callId);
        return;
      default:
    }
  }

  open(): OpenWork {
    const innerFirst = [...this.runIds].reverse();
    const inOrder = <Work extends Worker>(work: ReadonlyMap<string, Work>): Work[] =>
      innerFirst.flatMap((runId) => [...work.values()].filter((each) => each.runId === runId));
    const calls = inOrder(this.calls).map((call) => ({ ...call, isSuspended: this.isSuspended(call) }));
    return { reasons: inOrder(this.reasons), calls };
  }

  private addDelta({ reasonId, kind, text = '' }: EventOf<'reason_delta'>): void {
    const open = this.reasons.get(reasonId);
    if (open !== undefined && kind !== 'media') this.reasons.set(reasonId, { ...open, [kind]: open[kind] + text });
  }

  /** A call of a sub-agent is part of one of the run itself, and waits with that. */
  private isSuspended({ callId, parent }: Call): boolean {
    const around = parent && this.calls.get(callOfTask(parent.taskId));
    return around === undefined ? this.suspended.has(callId) : this.isSuspended(around);
  }
}

/** What these events of one run leave open; nothing was open before them. */
export function openWorkOf(events: Iterable<HarnessEvent>): OpenWork {
  const tracker = new OpenWorkTracker();
  for (const event of events) tracker.add(event);
  return tracker.open();
}

function workerOf({ runId, agentName, sessionId, parent }: HarnessEvent): Worker {
  return { runId, agentName, sessionId, ...(parent !== undefined && { parent }) };
}

interface Closing {
  /** `recovered`: the half answer is void, because the step is repeated; `cancelled`: it stays. */
  readonly reason: 'cancelled' | 'recovered';
  readonly outcome: 'cancelled' | 'unknown';
  readonly code: string;
  readonly cause: string;
}

const CLOSINGS: Record<Interruption, Closing> = {
  cancelled: { reason: 'cancelled', outcome: 'cancelled', code: 'CANCELLED', cause: 'by a cancel' },
  recovered: { reason: 'recovered', outcome: 'unknown', code: 'WORKER_LOST', cause: 'because its worker was lost' },
  lost: { reason: 'cancelled', outcome: 'unknown', code: 'WORKER_LOST', cause: 'because its worker was lost' },
  failed: { reason: 'cancelled', outcome: 'unknown', code: 'RUN_FAILED', cause: 'by the failure of its run' },
  expired: {
    reason: 'cancelled',
    outcome: 'cancelled',
    code: 'RUN_EXPIRED',
    cause: 'because the time of its run is over',
  },
};

/** An event that closes something. */
export type ClosingEvent = EventOf<'reason_end'> | EventOf<'tool_call_end'>;

/**
 * The events that close what is open, so that no later reader finds a reason or a call without its end. A run that is
 * recovered goes on with its suspended calls; they stay open.
 * @param nowMs epoch milliseconds
 */
export function closingEvents(open: OpenWork, how: Interruption, nowMs: number): ClosingEvent[] {
  const calls = how === 'recovered' ? open.calls.filter(({ isSuspended }) => !isSuspended) : open.calls;
  return [
    ...open.reasons.map((reason) => endOfReason(reason, how, nowMs)),
    ...calls.map((call) => endOfCall(call, how, nowMs)),
  ];
}

function endOfReason(
  { reasonId, text, thinking, at, ...worker }: OpenReason,
  how: Interruption,
  nowMs: number,
): ClosingEvent {
  // Only the run itself repeats its step: a sub-agent is not gone on with, and what it said stays.
  const interrupted = worker.parent === undefined ? CLOSINGS[how].reason : 'cancelled';
  const said = { text, ...(thinking !== '' && { thinking }), toolCalls: [] };
  const times = { at: nowMs, durationMs: Math.max(0, nowMs - at) };
  const end = { reasonId, finishReason: 'other', interrupted } as const;
  return { type: 'reason_end', streamId: '', ...worker, ...said, ...times, ...end };
}

function endOfCall(
  { isSuspended: _isSuspended, at, ...call }: OpenCall,
  how: Interruption,
  nowMs: number,
): ClosingEvent {
  const { outcome, code, cause } = CLOSINGS[how];
  const text = `interrupted ${cause}; whether the call took effect is unknown`;
  const times = { at: nowMs, durationMs: Math.max(0, nowMs - at) };
  return { type: 'tool_call_end', streamId: '', ...call, ...times, outcome, text, error: { code, message: text } };
}
