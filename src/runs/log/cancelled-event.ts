import type { EntityManager } from 'typeorm';
import type { Clock } from '../../common/clock.js';
import type { EventOf } from '../../events/harness-event.js';
import type { Run } from '../run.js';
import { EVENT_COLUMNS, eventOf, type EventRow } from './event-rows.js';
import { lifecycleEvent } from './lifecycle-events.js';

/** The end of a run that was told to cancel, with the reason that was given then. */
export async function cancelledEvent(
  manager: EntityManager,
  run: Run,
  clock: Clock,
): Promise<EventOf<'run_cancelled'>> {
  const rows = await manager.query<EventRow[]>(
    `SELECT ${EVENT_COLUMNS} FROM run_events WHERE run_id = ? AND type = 'cancelling'`,
    [run.id],
  );
  const asked = rows[0] && eventOf(rows[0]);
  const reason = asked?.type === 'cancelling' ? asked.reason : null;
  return lifecycleEvent(run, clock, 'run_cancelled', { reason, artifacts: [], usage: run.usage });
}
