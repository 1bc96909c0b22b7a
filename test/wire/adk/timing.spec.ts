import 'reflect-metadata';
import type { JsonObject } from '../../../src/common/json.js';
import { strictFrames, textsOf, until, type AdkFrame } from '../../support/adk-client.js';
import { exchange } from '../../support/adk-golden/exchange.js';
import { startGoldenApp, type GoldenApp } from '../../support/adk-golden/golden-app.js';
import { readArea, type Recording } from '../../support/adk-golden/recordings.js';

/** Recordings in which timing decided: who ends, what is stored, in which order. */

const SESSIONS = '/apps/harness_agent/users/u1/sessions';
const racing = readArea('sdk-run_sse').filter((recording) => recording.racing === true);

function recordingOf(id: string): Recording {
  const recording = racing.find((candidate) => candidate.id === id);
  if (recording === undefined) throw new Error(`there is no recording ${id}`);
  return recording;
}

describe('recordings in which timing decided', () => {
  let app: GoldenApp;
  beforeAll(async () => {
    app = await startGoldenApp('sdk');
  });
  afterAll(() => app.close());

  async function prepare({ setup = [] }: Recording): Promise<void> {
    for (const request of setup) expect((await exchange(app.port, request)).status).toBe(200);
  }

  async function eventsOf(session: string): Promise<AdkFrame[]> {
    const { body = '' } = await exchange(app.port, { method: 'GET', path: `${SESSIONS}/${session}` });
    return (JSON.parse(body) as { events: AdkFrame[] }).events;
  }

  it('are all judged here', () => {
    expect(racing.map(({ id }) => id).sort()).toEqual(['sdk08-sse-concurrent', 'sdk08-sse-disconnect']);
  });

  it('sdk08-sse-concurrent: the second run waits its turn with its stream open', async () => {
    const recording = recordingOf('sdk08-sse-concurrent');
    await prepare(recording);
    const { request } = recording;
    const first = exchange(app.port, request);
    await until(async () => (await eventsOf('s42')).length === 1);
    const second = exchange(app.port, { ...request, body: request.body?.replace('aaaaaa', 'bbbbbb') ?? '' });
    const streams = await Promise.all([first, second]);
    const [ofFirst = [], ofSecond = []] = streams.map(({ frames = [] }) => strictFrames(frames.join('')));
    expect(ofFirst.flatMap(textsOf)).toEqual(['aa', 'aa', 'aa', 'aaaaaa']);
    expect(ofSecond.flatMap(textsOf)).toEqual(['bb', 'bb', 'bb', 'bbbbbb']);
    expect(timeOf(ofSecond.at(0))).toBeGreaterThanOrEqual(timeOf(ofFirst.at(-1)));
    const stored = await eventsOf('s42');
    expect(stored.flatMap(textsOf)).toEqual(['slow:aaaaaa', 'aaaaaa', 'slow:bbbbbb', 'bbbbbb']);
  });

  it('sdk08-sse-disconnect: the run ends with its client, and what was said stays', async () => {
    const recording = recordingOf('sdk08-sse-disconnect');
    await prepare(recording);
    const reader = await openStream(recording);
    const { value } = await reader.read();
    expect(new TextDecoder().decode(value)).toContain('"text":"ab"');
    await reader.cancel();
    await until(async () => (await eventsOf('s43')).length === 2);
    const [asked, said] = await eventsOf('s43');
    expect(textsOf(asked)).toEqual(['slow:abcdef']);
    expect(said).toMatchObject({ interrupted: true, author: 'harness_agent' });
    expect('abcdef'.startsWith(textsOf(said).join(''))).toBe(true);
    expect(textsOf(said)).not.toEqual(['abcdef']);
    const again = await exchange(app.port, {
      ...recording.request,
      body:
        recording.request.body?.replace('slow:abcdef', 'say:x').replace('"streaming":true', '"streaming":false') ?? '',
    });
    expect(strictFrames((again.frames ?? []).join('')).flatMap(textsOf)).toEqual(['x']);
  });

  async function openStream({ request }: Recording): Promise<ReadableStreamDefaultReader<Uint8Array>> {
    const { method, path, headers = {}, body = '' } = request;
    const response = await fetch(`http://127.0.0.1:${app.port}${path}`, { method, headers, body });
    const reader = response.body?.getReader();
    if (reader === undefined) throw new Error('the stream has no body');
    return reader;
  }
});

const timeOf = (event: JsonObject | undefined): number => Number(event?.['timestamp']);
