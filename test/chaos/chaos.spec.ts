import { Random } from '../support/random.js';
import type { ServerOptions } from '../support/server.js';
import { startChaosCluster, type ChaosCluster } from './chaos-cluster.js';
import { noFindings, reportOf, type Findings, type Report } from './findings.js';
import { heldWorker } from './held-worker.js';
import { killStorm } from './kill-storm.js';
import { LONG_LEASES, SHORT_LEASES } from './leases.js';
import { lostDatabase } from './lost-database.js';

const LIMIT_MS = 3_600_000;
const SEED = Number(process.env['BRIDLE_CHAOS_SEED'] ?? 1);
const MINUTES = Number(process.env['BRIDLE_CHAOS_MINUTES'] ?? 0);

type Scenario = (cluster: ChaosCluster, findings: Findings, random: Random) => Promise<void>;

/** One scenario on a cluster of its own, with everything that must hold afterwards. */
async function play(seed: number, env: ServerOptions['env'], processes: number, scenario: Scenario): Promise<Report> {
  const startMs = Date.now();
  const cluster = await startChaosCluster(processes, env);
  try {
    const findings = noFindings();
    await scenario(cluster, findings, new Random(seed));
    const report = await reportOf(cluster, findings, { seed, startMs });
    console.info(JSON.stringify(report));
    return report;
  } finally {
    await cluster.dispose();
  }
}

const SCENARIOS: readonly (readonly [name: string, env: ServerOptions['env'], scenario: Scenario])[] = [
  ['200 kills of a random process under load', SHORT_LEASES, (...all) => killStorm(...all, { kills: 200, users: 12 })],
  ['a process that stands still past its leases', SHORT_LEASES, (...all) => heldWorker(...all)],
  [
    'a database that is killed in the middle of 50 streams',
    LONG_LEASES,
    (...all) => lostDatabase(...all, { how: 'kill', awayMs: 3000, streams: 50 }),
  ],
  [
    'a database that stands still in the middle of 50 streams',
    LONG_LEASES,
    (...all) => lostDatabase(...all, { how: 'hold', awayMs: 8000, streams: 50 }),
  ],
];

/** A smaller scenario, drawn by its seed. */
function drawn(random: Random): (typeof SCENARIOS)[number] {
  const awayMs = 4000 + random.below(6000);
  const streams = 10 + random.below(50);
  const drawable: typeof SCENARIOS = [
    [
      'kills',
      SHORT_LEASES,
      (...all) => killStorm(...all, { kills: 10 + random.below(10), users: 4 + random.below(20) }),
    ],
    ['a held process', SHORT_LEASES, heldWorker],
    ['a killed database', LONG_LEASES, (...all) => lostDatabase(...all, { how: 'kill', awayMs, streams })],
    ['a held database', LONG_LEASES, (...all) => lostDatabase(...all, { how: 'hold', awayMs, streams })],
  ];
  return drawable[random.below(drawable.length)]!;
}

if (MINUTES === 0) {
  describe('no run is lost, doubled or torn by', () => {
    it.each(SCENARIOS)(
      '%s',
      async (_name, env, scenario) => {
        expect((await play(SEED, env, 3, scenario)).faults).toEqual([]);
      },
      LIMIT_MS,
    );
  });
} else {
  it(
    `no run is lost, doubled or torn in ${MINUTES} minutes of random scenarios`,
    async () => {
      const endMs = Date.now() + MINUTES * 60_000;
      for (let seed = SEED; Date.now() < endMs; seed += 1) {
        const random = new Random(seed);
        const [name, env, scenario] = drawn(random);
        const report = await play(seed, env, 2 + random.below(3), scenario);
        expect({ seed, name, faults: report.faults }).toEqual({ seed, name, faults: [] });
      }
    },
    MINUTES * 60_000 + LIMIT_MS,
  );
}
