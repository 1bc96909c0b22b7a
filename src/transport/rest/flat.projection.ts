import type { JsonObject } from '../../common/json.js';
import type { Projection, RunFacts } from '../../events/projection.js';
import type { RunPayload, RunPayloadType } from '../run-payload/run-payload.js';
import { envelopeProjection } from './rest.projection.js';

/** An event whose data stands alone: id and type are only in the lines around it. */
export interface FlatEvent {
  readonly id: number;
  readonly type: RunPayloadType;
  readonly data: JsonObject;
}

/** Fields of the envelope that a flat event does not repeat. */
const LEFT_OUT = ['capabilities', 'status', 'state', 'time', 'message', 'queue_position', 'attempt'];
const TERMINAL: ReadonlySet<RunPayloadType> = new Set(['run.completed', 'run.failed', 'run.cancelled', 'run.expired']);

/** The flat form of an envelope event: pure, so a client may start on one encoding and go on with the other. */
export function toFlatEvent({ id, type, data }: RunPayload): FlatEvent {
  const leftOut = new Set(LEFT_OUT);
  if (TERMINAL.has(type)) leftOut.add('usage');
  if (type === 'run.completed') leftOut.add('code').add('stage');
  return { id, type, data: Object.fromEntries(Object.entries(data).filter(([field]) => !leftOut.has(field))) };
}

/** The flat encoding of `/v1`, made from the envelope. */
export const flatProjection: Projection<RunFacts, FlatEvent> = {
  initial: (run) => envelopeProjection.initial(run),
  step: (run, event) => {
    const { state, wires } = envelopeProjection.step(run, event);
    return { state, wires: wires.map(toFlatEvent) };
  },
};
