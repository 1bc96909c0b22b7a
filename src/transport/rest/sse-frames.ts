import type { LoggedEvent, Projection, RunFacts } from '../../events/projection.js';
import { flatProjection } from './flat.projection.js';
import { envelopeProjection } from './rest.projection.js';

/** How an event is written into a stream (contract: flat or envelope). */
export type Encoding = 'flat' | 'envelope';

/** Tells a browser how long to wait before it connects again; a block of its own, so it moves no cursor. */
export const RETRY_BLOCK = 'retry: 2000\n\n';

/** The projection whose wires are whole frames of server-sent events. */
export function sseProjection(encoding: Encoding): Projection<RunFacts, string> {
  return encoding === 'flat'
    ? framed(flatProjection, (event) => frame(event.id, event.type, event.data))
    : framed(envelopeProjection, (event) => frame(event.id, event.type, event));
}

function framed<State, Wire>(
  projection: Projection<State, Wire>,
  toFrame: (wire: Wire) => string,
): Projection<State, string> {
  return {
    initial: (run) => projection.initial(run),
    step: (state: State, event: LoggedEvent) => {
      const next = projection.step(state, event);
      return { state: next.state, wires: next.wires.map(toFrame) };
    },
  };
}

/** JSON escapes every line end, so data can never open a field or a frame. */
function frame(id: number, type: string, data: unknown): string {
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
