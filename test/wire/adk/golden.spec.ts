import 'reflect-metadata';
import { isDeepStrictEqual } from 'node:util';
import { changed, readChanges } from '../../support/adk-golden/changes.js';
import { expected, masked } from '../../support/adk-golden/comparison.js';
import { covers, readDeviations } from '../../support/adk-golden/deviations.js';
import { startGoldenApp, type GoldenApp, type Peer } from '../../support/adk-golden/golden-app.js';
import { readArea, readNotYet, type Recording } from '../../support/adk-golden/recordings.js';
import { replay } from '../../support/adk-golden/replay.js';

/** Replays what Google's ADK and the AgentKit SDK did, byte for byte. Where timing decides: `timing.spec.ts`. */

interface Start {
  readonly name: string;
  readonly peer: Peer;
  readonly areas: readonly string[];
  readonly needs?: string;
  readonly variables?: Readonly<Record<string, string>>;
}

const SDK_AREAS = ['sdk-service', 'sdk-sessions', 'sdk-run_sse', 'sdk-cors'];

const STARTS: readonly Start[] = [
  { name: 'ADK', peer: 'adk', areas: ['service', 'origin', 'sessions', 'request', 'run_sse', 'lookalike-422'] },
  {
    name: 'ADK with origins',
    peer: 'adk',
    areas: ['origin'],
    needs: 'cors',
    variables: { BRIDLE_HTTP_ALLOW_ORIGINS: 'https://ok.example,regex:https://.*\\.rx\\.example' },
  },
  {
    name: 'ADK open to every origin',
    peer: 'adk',
    areas: ['origin'],
    needs: 'cors-star',
    variables: { BRIDLE_HTTP_ALLOW_ORIGINS: '*' },
  },
  {
    name: 'ADK with a default app',
    peer: 'adk',
    areas: ['options'],
    needs: 'default-app',
    variables: { ADK_DEFAULT_APP_NAME: 'harness_agent' },
  },
  { name: 'AgentKit', peer: 'sdk', areas: SDK_AREAS },
  {
    name: 'AgentKit with origins',
    peer: 'sdk',
    areas: SDK_AREAS,
    needs: 'sdk08cors',
    variables: { BRIDLE_HTTP_ALLOW_ORIGINS: 'https://good.example' },
  },
  { name: 'AgentKit without origins', peer: 'sdk', areas: SDK_AREAS, needs: 'sdk08strict' },
];

const rows = readDeviations();
const notYet = readNotYet();
const changes = readChanges();
const recordingsOf = ({ areas, needs }: Start): readonly Recording[] =>
  areas.flatMap(readArea).filter((recording) => recording.needs === needs && recording.racing !== true);
const all = STARTS.flatMap(recordingsOf);

describe.each(STARTS)('recordings of $name', (start) => {
  let app: GoldenApp;
  beforeAll(async () => {
    app = await startGoldenApp(start.peer, start.variables);
  });
  afterAll(() => app.close());

  it.each(recordingsOf(start).map((recording) => [recording.id, recording] as const))('%s', async (id, recording) => {
    const { seen: actual, answer } = await replay(app.port, recording);
    if (answer.frames !== undefined) {
      expect(answer.headers?.['cache-control']).toBe('no-cache, no-transform');
      expect(answer.headers?.['x-accel-buffering']).toBe('no');
    }
    if (isAcceptance(recording)) {
      expect(actual.status).toBe(overrides(recording) ? 501 : 404);
      return;
    }
    const peer = expected(recording);
    const isEqual = isDeepStrictEqual(masked(actual, peer), peer);
    if (id in notYet) {
      expect({ waitsFor: notYet[id], isEqual }).toEqual({ waitsFor: notYet[id], isEqual: false });
      return;
    }
    const change = changes[id];
    const wanted = change === undefined ? peer : expected(changed(recording, change));
    expect(masked(actual, wanted)).toEqual(wanted);
    // A change that leaves the recording as it was explains nothing.
    if (change !== undefined) expect(isEqual).toBe(false);
  });
});

/** A look-alike of the request schema says only that it takes the body, and which overrides it saw. */
const isAcceptance = ({ id, expect: { status } }: Recording): boolean => id.startsWith('lookalike-') && status === 200;

function overrides({ expect: { body = '{}' } }: Recording): boolean {
  const { harness_fields_set: fields } = JSON.parse(body) as { harness_fields_set: readonly string[] | null };
  return fields !== null && fields.length > 0;
}

describe('docs/adk-deviations.md', () => {
  const deviating = Object.keys(changes);

  it.each(rows.map((row) => [row.id, row] as const))('row %s is used', (_, row) => {
    expect(deviating.filter((id) => covers(row, id))).not.toEqual([]);
  });

  it('explains every change by one row', () => {
    const unexplained = deviating.filter((id) => rows.filter((row) => covers(row, id)).length !== 1);
    expect(unexplained).toEqual([]);
  });

  it('and not-yet.json name only cases that are replayed, each in one place', () => {
    const known = new Set(all.map(({ id }) => id));
    const named = [...deviating, ...Object.keys(notYet)];
    expect(named.filter((id) => !known.has(id))).toEqual([]);
    expect(deviating.filter((id) => id in notYet)).toEqual([]);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  });
});
