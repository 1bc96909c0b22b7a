import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectAll, type LoggedEvent } from '../../../src/events/projection.js';
import { flatProjection, toFlatEvent } from '../../../src/transport/rest/flat.projection.js';
import { envelopeProjection } from '../../../src/transport/rest/rest.projection.js';
import { sseProjection, type Encoding } from '../../../src/transport/rest/sse-frames.js';
import { EXAMPLE_EVENTS, EXAMPLE_RUN } from '../../support/example-run.js';

/** The frames of the contract's example, which leaves some of the 26 out. */
function goldenFrames(name: string): string[] {
  const text = readFileSync(join('test/transport/rest/golden', name), 'utf8');
  return text.split(/(?<=\n\n)/);
}

const idOf = (frame: string): number => Number(/^id: (\d+)$/m.exec(frame)?.[1]);

describe('the streams of /v1', () => {
  it.each<[Encoding, string, number]>([
    ['flat', 'example-flat.sse', 15],
    ['envelope', 'example-envelope.sse', 7],
  ])('writes the %s frames of the example byte for byte', (encoding, golden, count) => {
    const frames = new Map(
      projectAll(sseProjection(encoding), EXAMPLE_RUN, EXAMPLE_EVENTS).map((frame) => [idOf(frame), frame]),
    );
    expect([...frames.keys()]).toEqual(Array.from({ length: 26 }, (_, index) => index + 1));
    const expected = goldenFrames(golden);
    expect(expected).toHaveLength(count);
    for (const frame of expected) expect(frames.get(idOf(frame))).toBe(frame);
  });

  it('makes the flat event from the envelope alone', () => {
    const envelopes = projectAll(envelopeProjection, EXAMPLE_RUN, EXAMPLE_EVENTS);
    const flats = projectAll(flatProjection, EXAMPLE_RUN, EXAMPLE_EVENTS);
    expect(flats).toEqual(envelopes.map((envelope) => toFlatEvent(JSON.parse(JSON.stringify(envelope)))));
    expect(flats.map((flat) => [flat.id, flat.type])).toEqual(envelopes.map((event) => [event.id, event.type]));
  });

  it('projects each event by itself, so a page may start anywhere', () => {
    const whole = projectAll(envelopeProjection, EXAMPLE_RUN, EXAMPLE_EVENTS);
    for (let after = 0; after < EXAMPLE_EVENTS.length; after += 1) {
      expect(projectAll(envelopeProjection, EXAMPLE_RUN, EXAMPLE_EVENTS.slice(after))).toEqual(whole.slice(after));
    }
  });

  it('leaves usage out of every flat end, code and stage only of a good one', () => {
    const last = EXAMPLE_EVENTS.at(-1) as LoggedEvent;
    const { at, agentName, sessionId, runId, streamId, seq } = last;
    const base = { at, agentName, sessionId, runId, streamId, seq };
    const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3, cachedTokens: 0, estimated: false };
    const failed: LoggedEvent = {
      ...base,
      type: 'run_failed',
      status: 'failed',
      code: 'AGENT_ERROR',
      stage: 'failed',
      error: { code: 'AGENT_ERROR', message: 'internal error', retryable: false, stage: 'acting' },
      artifacts: [],
      usage,
    };
    const cancelled: LoggedEvent = {
      ...base,
      type: 'run_cancelled',
      status: 'cancelled',
      code: 'RUN_CANCELLED',
      stage: 'cancelled',
      reason: null,
      artifacts: [],
      usage,
    };
    expect(projectAll(flatProjection, EXAMPLE_RUN, [failed, cancelled]).map((event) => event.data)).toEqual([
      {
        session_id: 'S1',
        run_id: 'R1',
        code: 'AGENT_ERROR',
        stage: 'failed',
        error: { code: 'AGENT_ERROR', message: 'internal error', retryable: false, stage: 'acting' },
        artifacts: [],
      },
      {
        session_id: 'S1',
        run_id: 'R1',
        code: 'RUN_CANCELLED',
        stage: 'cancelled',
        reason: null,
        artifacts: [],
      },
    ]);
  });

  it.each(['flat', 'envelope'] as const)('keeps one event one frame, whatever the model says (%s)', (encoding) => {
    const evil = 'a\rdata: {"error":"pwn"}\n\nevent: run.completed\ndata: {}\r\n\r\n\u2028\u2029\u0085';
    const delta = { ...(EXAMPLE_EVENTS[5] as LoggedEvent & { type: 'reason_delta' }), text: evil };
    const [frame, ...more] = projectAll(sseProjection(encoding), EXAMPLE_RUN, [delta]);
    expect(more).toEqual([]);
    expect(frame?.split(/\r\n|\r|\n/)).toEqual([
      'id: 6',
      'event: run.message_delta',
      expect.stringMatching(/^data: /),
      '',
      '',
    ]);
    const data = JSON.parse(frame?.split('\ndata: ')[1] ?? '') as { text?: string; data?: { text: string } };
    expect(encoding === 'flat' ? data.text : data.data?.text).toBe(evil);
  });
});
