import { startChaosCluster, type ChaosCluster } from '../chaos/chaos-cluster.js';
import { noFindings, reportOf, type Findings } from '../chaos/findings.js';
import { heldWorker } from '../chaos/held-worker.js';
import { killStorm } from '../chaos/kill-storm.js';
import { LONG_LEASES, SHORT_LEASES } from '../chaos/leases.js';
import { lostDatabase } from '../chaos/lost-database.js';
import { isFullRun } from '../support/property-runs.js';
import { Random } from '../support/random.js';

const SEED = 4;
const LIMIT_MS = 3_600_000;

/** The scenarios of `npm run test:chaos`, short; their full counts with BRIDLE_TEST_FULL=1. */
describe('no run is lost, doubled or torn by', () => {
  let cluster: ChaosCluster;
  let findings: Findings;
  const random = new Random(SEED);

  const begin = async (processes: number, env: Readonly<Record<string, string>>): Promise<void> => {
    cluster = await startChaosCluster(processes, env);
    findings = noFindings();
  };
  const faults = async (): Promise<readonly string[]> =>
    (await reportOf(cluster, findings, { seed: SEED, startMs: Date.now() })).faults;

  afterEach(() => cluster.dispose());

  it(
    'a process that stands still past its leases, and the kill of one of three, time after time',
    async () => {
      await begin(3, SHORT_LEASES);
      await heldWorker(cluster, findings, random);
      await killStorm(cluster, findings, random, { kills: isFullRun() ? 200 : 8, users: 6 });
      expect(await faults()).toEqual([]);
    },
    LIMIT_MS,
  );

  it(
    'a database that is killed and started again in the middle of streams',
    async () => {
      await begin(2, LONG_LEASES);
      const streams = isFullRun() ? 50 : 12;
      await lostDatabase(cluster, findings, random, { how: 'kill', awayMs: 3000, streams });
      expect(await faults()).toEqual([]);
    },
    LIMIT_MS,
  );
});
