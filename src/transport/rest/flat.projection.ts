import type { Json, JsonObject } from '../../common/json.js';
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
const ALWAYS = ['capabilities', 'status', 'state', 'time', 'message', 'queue_position', 'attempt'];
const LEFT_OUT: ReadonlySet<string> = new Set(ALWAYS);
const LEFT_OUT_AT_THE_END: ReadonlySet<string> = new Set([...ALWAYS, 'usage']);
const LEFT_OUT_OF: Readonly<Partial<Record<RunPayloadType, ReadonlySet<string>>>> = {
  'run.completed': new Set([...LEFT_OUT_AT_THE_END, 'code', 'stage']),
  'run.failed': LEFT_OUT_AT_THE_END,
  'run.cancelled': LEFT_OUT_AT_THE_END,
  'run.expired': LEFT_OUT_AT_THE_END,
};

/** The flat form of an envelope event: pure, so a client may start on one encoding and go on with the other. */
export function toFlatEvent({ id, type, data }: RunPayload): FlatEvent {
  const leftOut = LEFT_OUT_OF[type] ?? LEFT_OUT;
  const rest: Record<string, Json> = {};
  for (const [field, value] of Object.entries(data)) if (!leftOut.has(field)) rest[field] = value;
  return { id, type, data: rest };
}

/** The flat encoding of `/v1`, made from the envelope. */
export const flatProjection: Projection<RunFacts, FlatEvent> = {
  initial: (run) => envelopeProjection.initial(run),
  step: (run, event) => {
    const { state, wires } = envelopeProjection.step(run, event);
    return { state, wires: wires.map(toFlatEvent) };
  },
};
