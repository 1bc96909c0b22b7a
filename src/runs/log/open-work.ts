import type { EntityManager } from 'typeorm';
import type { Clock } from '../../common/clock.js';
import type { HarnessEvent } from '../../events/harness-event.js';
import type { LoggedEvent } from '../../events/projection.js';
import { EVENT_COLUMNS, eventOf, type EventRow } from './event-rows.js';
import { lifecycleEvent } from './lifecycle-events.js';
import type { Run } from '../run.js';

interface OpenReason {
  readonly reasonId: string;
  readonly seq: number;
  readonly at: number;
  readonly text: string;
  readonly thinking: string;
}

interface OpenCall {
  readonly callId: string;
  readonly toolName: string;
  readonly reasonId: string;
  readonly at: number;
}

/** What a run has begun and not finished, as its log says it. */
export interface OpenWork {
  readonly reason: OpenReason | undefined;
  readonly calls: readonly OpenCall[];
}

const NOTHING: OpenWork = { reason: undefined, calls: [] };

/** Folds the events since the newest `reason_start` into what is open. Pure. */
export function openWorkOf(events: readonly LoggedEvent[]): OpenWork {
  return events.reduce(step, NOTHING);
}

function step(open: OpenWork, event: LoggedEvent): OpenWork {
  if (event.parent !== undefined) return open;
  switch (event.type) {
    case 'reason_start':
      return { ...open, reason: { reasonId: event.reasonId, seq: event.seq, at: event.at, text: '', thinking: '' } };
    case 'reason_delta':
      return open.reason === undefined
        ? open
        : { ...open, reason: withDelta(open.reason, event.kind, event.text ?? '') };
    case 'reason_end':
      return { ...open, reason: undefined };
    case 'tool_call_start':
      return { ...open, calls: [...open.calls, event] };
    case 'tool_call_end':
      return { ...open, calls: open.calls.filter((call) => call.callId !== event.callId) };
    default:
      return open;
  }
}

function withDelta(reason: OpenReason, kind: string, text: string): OpenReason {
  if (kind === 'text') return { ...reason, text: reason.text + text };
  return kind === 'thinking' ? { ...reason, thinking: reason.thinking + text } : reason;
}

/** Reads what is open in a locked run. */
export async function readOpenWork(manager: EntityManager, run: Run): Promise<OpenWork> {
  const starts = await manager.query<{ seq: number | null }[]>(
    "SELECT MAX(seq) AS seq FROM run_events WHERE run_id = ? AND type = 'reason_start'",
    [run.id],
  );
  const since = Number(starts[0]?.seq ?? 0);
  if (since === 0) return NOTHING;
  const rows = await manager.query<EventRow[]>(
    `SELECT ${EVENT_COLUMNS} FROM run_events WHERE run_id = ? AND seq >= ? ORDER BY seq`,
    [run.id, since],
  );
  return openWorkOf(rows.map(eventOf));
}

/** How the work was broken off: by a cancel, by a loss after which the step is repeated, or by the failure of the run. */
export type Interruption = 'cancelled' | 'recovered' | 'lost' | 'failed';

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
};

/** The events that close what is open, so that no later reader finds a reason or a call without its end. */
export function closingEvents(run: Run, open: OpenWork, how: Interruption, clock: Clock): HarnessEvent[] {
  const { reason: interrupted, outcome, code, cause } = CLOSINGS[how];
  const message = `interrupted ${cause}; whether the call took effect is unknown`;
  const since = (at: number): number => Math.max(0, clock.nowMs() - at);
  const events: HarnessEvent[] = [];
  if (open.reason !== undefined) {
    const { reasonId, text, thinking, at } = open.reason;
    events.push(
      lifecycleEvent(run, clock, 'reason_end', {
        reasonId,
        text,
        ...(thinking === '' ? {} : { thinking }),
        toolCalls: [],
        finishReason: 'other',
        durationMs: since(at),
        interrupted,
      }),
    );
  }
  for (const { callId, toolName, reasonId, at } of open.calls) {
    const error = { code, message };
    events.push(
      lifecycleEvent(run, clock, 'tool_call_end', {
        callId,
        toolName,
        reasonId,
        outcome,
        text: message,
        error,
        durationMs: since(at),
      }),
    );
  }
  return events;
}
