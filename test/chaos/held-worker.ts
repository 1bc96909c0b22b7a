import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../support/random.js';
import { upTo, type RunKey } from '../support/v1-client.js';
import { fencedWritesOf, type ChaosCluster } from './chaos-cluster.js';
import { ChaosClient } from './client.js';
import type { Findings } from './findings.js';

const RUNS = 6;
const WORDS = 300;
const WAIT_MS = 60_000;
const OVER = "e.type IN ('run_completed', 'run_failed', 'run_cancelled', 'run_expired')";

/**
 * A process is held past its leases and let go again, in the middle of its runs: another one takes them over, and
 * whatever the first still writes is refused.
 */
export async function heldWorker(cluster: ChaosCluster, findings: Findings, random: Random): Promise<void> {
  const at = random.below(cluster.servers.length);
  const holder = cluster.servers[at]!;
  const sender = new ChaosClient([holder], random, findings);
  const reader = new ChaosClient(cluster.servers, random, findings);
  const fencedBefore = await fencedWritesOf(holder);
  const keys = await Promise.all(
    upTo(RUNS).map(async () =>
      sender.send(await sender.session(), `tool:pay:20;stream:${WORDS}:25;tool:ship:20;say:end`),
    ),
  );
  const reading = keys.map((key) => Promise.all([reader.follow(key), sender.follow(key)]));
  await until(cluster, keys, "e.type = 'reason_delta'");
  process.kill(holder.pid, 'SIGSTOP');
  try {
    await until(cluster, keys, `(e.type = 'recovered' OR ${OVER})`);
    await sleep(random.below(1000));
  } finally {
    process.kill(holder.pid, 'SIGCONT');
  }
  const observations = await Promise.all(reading);
  keys.forEach((key, index) => findings.runs.push({ key, text: 'end', observations: observations[index]! }));
  const fenced = (await fencedWritesOf(holder)) - fencedBefore;
  if (fenced === 0) findings.faults.push('a process that lost its leases had no write refused');
}

/** Waits until each of these runs has an event of the kind. */
async function until(cluster: ChaosCluster, keys: readonly RunKey[], isIt: string): Promise<void> {
  const ids = keys.map(({ runId }) => `'${runId}'`).join();
  const deadlineMs = Date.now() + WAIT_MS;
  for (;;) {
    const rows = await cluster.rows<{ n: number }>(
      `SELECT COUNT(DISTINCT e.run_id) AS n FROM run_events e WHERE e.run_id IN (${ids}) AND ${isIt}`,
    );
    if (Number(rows[0]?.n) === keys.length) return;
    if (Date.now() > deadlineMs) throw new Error(`not all of ${keys.length} runs came to ${isIt}`);
    await sleep(50);
  }
}
