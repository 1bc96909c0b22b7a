import type { Clock } from '../../common/clock.js';
import type { EventFields, EventOf, EventType } from '../../events/harness-event.js';
import type { Run } from '../run.js';

/** Makes events that no engine yields: those of a run's life cycle. */
export function lifecycleEvent<T extends EventType>(
  run: Pick<Run, 'id' | 'sessionId' | 'agent'>,
  clock: Clock,
  type: T,
  fields: EventFields[T],
): EventOf<T> {
  const common = { runId: run.id, at: clock.nowMs(), agentName: run.agent, sessionId: run.sessionId, streamId: '' };
  return { type, ...common, ...fields } as EventOf<T>;
}
