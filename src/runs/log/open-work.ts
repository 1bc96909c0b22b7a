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

/** How the work was broken off: by a cancel (the half answer stays) or by the loss of its worker (the step is repeated). */
export type Interruption = 'cancelled' | 'recovered';

/** The events that close what is open, so that no later reader finds a reason or a call without its end. */
export function closingEvents(run: Run, open: OpenWork, how: Interruption, clock: Clock): HarnessEvent[] {
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
        durationMs: Math.max(0, clock.nowMs() - at),
        interrupted: how,
      }),
    );
  }
  for (const { callId, toolName, reasonId, at } of open.calls) {
    const message = INTERRUPTED_TOOL[how];
    events.push(
      lifecycleEvent(run, clock, 'tool_call_end', {
        callId,
        toolName,
        reasonId,
        outcome: how === 'cancelled' ? 'cancelled' : 'unknown',
        text: message,
        error: { code: how === 'cancelled' ? 'CANCELLED' : 'WORKER_LOST', message },
        durationMs: Math.max(0, clock.nowMs() - at),
      }),
    );
  }
  return events;
}

const INTERRUPTED_TOOL: Record<Interruption, string> = {
  cancelled: 'interrupted by a cancel; whether the call took effect is unknown',
  recovered: 'interrupted because its worker was lost; whether the call took effect is unknown',
};
