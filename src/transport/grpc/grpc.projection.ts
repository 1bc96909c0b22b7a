import type { LoggedEvent, Projection, RunFacts } from '../../events/projection.js';
import { toRunPayload } from '../run-payload/run-payload.js';
import { RunEvent } from './generated/harness/v1/event.js';

/**
 * One message: the public form of the event in proto clothes. `null` becomes an absent field and a 64-bit integer
 * a decimal string; free JSON stays as it is.
 */
export function toRunEvent(run: RunFacts, event: LoggedEvent): RunEvent {
  return RunEvent.fromJSON(toRunPayload(run, event));
}

/** The log as gRPC messages: exactly one for each event, under the same id as on every other door. */
export const grpcProjection: Projection<RunFacts, RunEvent> = {
  initial: (run) => run,
  step: (run, event) => ({ state: run, wires: [toRunEvent(run, event)] }),
};
