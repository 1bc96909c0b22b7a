import type { Projection, RunFacts } from '../../events/projection.js';
import { toRunPayload, type RunPayload } from '../run-payload/run-payload.js';

/** The envelope encoding of `/v1`: one `{id, type, data}` for each event of the log. */
export const envelopeProjection: Projection<RunFacts, RunPayload> = {
  initial: (run) => run,
  step: (run, event) => ({ state: run, wires: [toRunPayload(run, event)] }),
};
