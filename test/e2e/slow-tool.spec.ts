import { effectsOf } from '../support/effects.js';
import { oneServer, severalServers, type Replicas } from '../support/replicas.js';
import { expectOneEnd } from '../support/run-end.js';
import type { EventItem } from '../support/v1-client.js';

/** Leases end soon, and whoever is dead is found soon. */
const env = { BRIDLE_RUNS_LEASE_MS: '2000', BRIDLE_RUNS_HEARTBEAT_MS: '500', BRIDLE_RUNS_REAPER_MS: '250' };

const PLACES = [
  { place: 'one process on SQLite', open: () => oneServer({ env }) },
  { place: 'two processes on one MariaDB', open: () => severalServers(2, { env }) },
];

/** A run whose tool takes longer than its lease is renewed, also while the tool blocks the event loop. */
describe.each(PLACES)('P06 a slow tool is not a dead worker, in $place', ({ open }) => {
  let replicas: Replicas;

  beforeAll(async () => {
    replicas = await open();
  });

  afterAll(() => replicas.dispose());

  async function eventsOf(script: string): Promise<readonly EventItem[]> {
    const sessionId = await replicas.v1(0).session();
    const run = await replicas.v1(0).send(sessionId, script);
    expect((await expectOneEnd(replicas.v1(1), run)).type).toBe('run.completed');
    expect(await replicas.v1(1).page(run)).toMatchObject({ attempt: 1 });
    expect(effectsOf(replicas, run.runId)).toMatchObject([{ tool: 'long', attempt: 1 }]);
    return replicas.v1(0).events(run);
  }

  it.each(['tool:long:15000', 'block:long:5000'])('%s', async (script) => {
    const types = (await eventsOf(script)).map((event) => event.type);
    expect(types.filter((type) => type === 'run.running')).toHaveLength(1);
    expect(types).not.toContain('run.recovered');
  });
});
