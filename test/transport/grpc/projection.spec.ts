import { readFileSync } from 'node:fs';
import { projectAll } from '../../../src/events/projection.js';
import { RunEvent } from '../../../src/transport/grpc/generated/harness/v1/event.js';
import { grpcProjection } from '../../../src/transport/grpc/grpc.projection.js';
import { toRunPayload } from '../../../src/transport/run-payload/run-payload.js';
import { EXAMPLE_EVENTS, EXAMPLE_RUN } from '../../support/example-run.js';

const GOLDEN = new URL('./golden/example-run.json', import.meta.url);

const overTheWire = (event: RunEvent): RunEvent => RunEvent.decode(RunEvent.encode(event).finish());

/** A `/v1` payload as gRPC must show it: no nulls, no empty lists outside free JSON, 64-bit integers as text. */
const INT64 = new Set(['duration_ms', 'input_tokens', 'output_tokens', 'total_tokens', 'cached_tokens']);
const FREE_JSON = new Set(['detail', 'media', 'args', 'data', 'details']);

function expected(value: unknown, key = ''): unknown {
  if (FREE_JSON.has(key)) return value;
  if (Array.isArray(value)) return value.map((item) => expected(item));
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, field]) => field !== null);
    return Object.fromEntries(entries.map(([name, field]) => [snake(name), expected(field, name)]));
  }
  return INT64.has(key) ? String(value) : value;
}

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** A message without the fields that were not set. */
function present(value: unknown, key = ''): unknown {
  if (FREE_JSON.has(key)) return value;
  if (Array.isArray(value)) return value.map((item) => present(item));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, field]) => field !== undefined)
        .map(([name, field]) => [name, present(field, name)]),
    );
  }
  return value;
}

describe('the gRPC projection', () => {
  const wires = projectAll(grpcProjection, EXAMPLE_RUN, EXAMPLE_EVENTS);

  it('shows the example run as recorded', () => {
    const golden: unknown = JSON.parse(readFileSync(GOLDEN, 'utf8'));
    expect(wires.map(overTheWire).map((event) => RunEvent.toJSON(event))).toEqual(golden);
  });

  it('has one message for each event, under the same id', () => {
    expect(wires.map(({ id }) => id)).toEqual(EXAMPLE_EVENTS.map(({ seq }) => String(seq)));
  });

  it.each(EXAMPLE_EVENTS.map((event) => [event.seq, event.type, event] as const))(
    'event %i, %s, is the payload of /v1 in proto clothes',
    (seq, _type, event) => {
      const payload = toRunPayload(EXAMPLE_RUN, event);
      const { id, type, data } = overTheWire(wires[seq - 1] as RunEvent);
      // Proto has no way to tell an empty list from an absent one.
      const lists = { answers: [], decisions: [], artifacts: [] };
      expect({ id, type, data: present(data) }).toEqual({
        id: String(payload.id),
        type: payload.type,
        data: { ...lists, ...withLists(expected(payload.data)) },
      });
    },
  );

  it('is the same from any place of the log on', () => {
    const tail = projectAll(grpcProjection, EXAMPLE_RUN, EXAMPLE_EVENTS.slice(12));
    expect(tail).toEqual(wires.slice(12));
  });
});

/** Lists inside messages are always there after decoding. */
function withLists(data: unknown): object {
  const fields = data as Record<string, unknown>;
  const input = fields['input_required'];
  return input === undefined ? fields : { ...fields, input_required: { tasks: [], ...(input as object) } };
}
