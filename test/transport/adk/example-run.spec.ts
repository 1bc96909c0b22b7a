import { readFileSync } from 'node:fs';
import { projectAll } from '../../../src/events/projection.js';
import { errorFrame, toFrame } from '../../../src/transport/adk/adk-frames.js';
import { AdkProjection, type AdkView, type AdkWire } from '../../../src/transport/adk/adk.projection.js';
import { EXAMPLE_EVENTS, EXAMPLE_RUN } from '../../support/example-run.js';

const STREAM: AdkView = { view: 'stream', streaming: false };
const PARTIALS: AdkView = { view: 'stream', streaming: true };
const SESSION: AdkView = { view: 'session', streaming: false };

describe('the example run', () => {
  const framesOf = (view: AdkView): string =>
    projectAll(new AdkProjection(view), EXAMPLE_RUN, EXAMPLE_EVENTS).map(toFrame).join('');

  it.each([
    ['example-streaming.sse', PARTIALS],
    ['example-aggregates.sse', STREAM],
    ['example-session.sse', SESSION],
  ])('is %s byte for byte', (name, view) => {
    const file = new URL(`./golden/${name}`, import.meta.url);
    expect(framesOf(view)).toBe(readFileSync(file, 'utf8'));
  });

  it('gives the same ids in the stream and in the session', () => {
    const idsIn = (view: AdkView): string[] =>
      projectAll(new AdkProjection(view), EXAMPLE_RUN, EXAMPLE_EVENTS).flatMap((wire) =>
        wire.kind === 'event' ? [wire.event['id'] as string] : [],
      );
    const inSession = idsIn(SESSION);
    expect(new Set(inSession).size).toBe(inSession.length);
    expect(inSession).toEqual(expect.arrayContaining(idsIn(STREAM)));
  });
});

describe('frames', () => {
  it('are one line each, raw except in the error', () => {
    const wire: AdkWire = { kind: 'event', event: { text: 'é漢😀\u2028\n' } };
    expect(toFrame(wire)).toBe('data: {"text":"é漢😀\u2028\\n"}\n\n');
    expect(errorFrame('é漢😀 "q"\n\u007f')).toBe(
      'data: {"error": "\\u00e9\\u6f22\\ud83d\\ude00 \\"q\\"\\n\\u007f"}\n\n',
    );
  });
});
