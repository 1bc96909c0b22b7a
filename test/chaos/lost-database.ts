import { setTimeout as sleep } from 'node:timers/promises';
import { GrpcTestClient } from '../support/grpc-client.js';
import { Random } from '../support/random.js';
import type { TestServer } from '../support/server.js';
import { upTo } from '../support/v1-client.js';
import type { ChaosCluster } from './chaos-cluster.js';
import { ChaosClient } from './client.js';
import { grpcFault, request, Unavailable } from './doors.js';
import type { Findings } from './findings.js';

export interface LossOptions {
  /** `kill`: its process is killed and started again; `hold`: it stands still and goes on. */
  readonly how: 'kill' | 'hold';
  readonly awayMs: number;
  readonly streams: number;
}

const WORDS = 60;
/** From the moment that the database is back. */
const RECOVERY_MS = 90_000;
/** A run whose claim was committed while its answer was lost comes back when its lease ends; every other one is given back. */
const LOST_CLAIMS = 0.2;
/** A line that is said more often an outage than this is a flood: once for each kind of error. */
const TOLD = 3;
const ASK_MS = 200;
const CALL_MS = 10_000;
/** What is said of each request and each run that it concerns; everything else is said once an outage. */
const OF_EACH = ['request found no database', 'call failed', 'run belongs to another worker now'];

/**
 * The database goes away in the middle of streams and comes back. Meanwhile clients hear 503 and nothing worse, no
 * process ends, and no run fails; afterwards every stream comes to its whole end.
 */
export async function lostDatabase(
  cluster: ChaosCluster,
  findings: Findings,
  random: Random,
  { how, awayMs, streams }: LossOptions,
): Promise<void> {
  const { servers, mariaDb } = cluster;
  const pids = servers.map(({ pid }) => pid);
  const logged = servers.map((server) => server.logs().length);
  let started = 0;
  const reading = upTo(streams).map(async (n) => {
    const own = new Random(random.below(2 ** 31));
    const client = new ChaosClient(servers, own, findings);
    const key = await client.send(
      await client.session(),
      `tool:pay:50;stream:${WORDS}:${60 + own.below(40)};say:end ${n}`,
    );
    const observing = client.follow(key);
    started += 1;
    findings.runs.push({ key, text: `${wordsOf(WORDS)}end ${n}`, observations: [await observing] });
  });
  while (started < streams) await sleep(50);
  await sleep(500 + random.below(1000));
  await (how === 'kill' ? mariaDb.kill() : mariaDb.pause());
  await whileAway(servers, findings, awayMs);
  await (how === 'kill' ? mariaDb.restart() : mariaDb.resume());
  const backMs = Date.now();
  await Promise.all(reading);
  const tookMs = Date.now() - backMs;
  if (tookMs > RECOVERY_MS) findings.faults.push(`it took ${tookMs} ms until every run was over`);
  const lost = await cluster.rows('SELECT id FROM runs WHERE attempt > 1');
  if (lost.length > LOST_CLAIMS * streams) findings.faults.push(`${lost.length} runs waited for the end of a lease`);
  servers.forEach((server, index) => {
    if (server.pid !== pids[index] || !isAlive(server.pid)) findings.faults.push('a process ended with its database');
    findings.faults.push(...floodsIn(server.logs().slice(logged[index])));
  });
  for (const server of servers) {
    if ((await readiness(server)) !== 200) findings.faults.push('a process is not ready again');
  }
}

/** Asks at every door of every process until the time is over; each must also have said that it is not ready. */
async function whileAway(servers: readonly TestServer[], findings: Findings, awayMs: number): Promise<void> {
  const endMs = Date.now() + awayMs;
  const ask = async (server: TestServer): Promise<void> => {
    let wasUnready = false;
    while (Date.now() < endMs) {
      wasUnready ||= (await readiness(server)) === 503;
      for (const door of ['/v1/sessions/none', '/apps/harness_agent/users/u/sessions/none', 'gRPC']) {
        const answer = await refusalOf(server, door);
        if (Date.now() > endMs) break;
        if (answer instanceof Unavailable && answer.saidSo) findings.refusals += 1;
        else findings.faults.push(`without a database ${door} answered ${String(answer)}`);
      }
      await sleep(ASK_MS);
    }
    if (!wasUnready) findings.faults.push('/readyz was never 503 without a database');
  };
  await Promise.all(servers.map(ask));
}

async function refusalOf(server: TestServer, door: string): Promise<unknown> {
  const client = new GrpcTestClient(server.grpc);
  try {
    if (door !== 'gRPC') return await request(server, door, undefined, AbortSignal.timeout(CALL_MS));
    return await client.call('getSession', { session_id: 'none' }, { deadlineMs: CALL_MS });
  } catch (error) {
    return door === 'gRPC' ? grpcFault(error) : error;
  } finally {
    client.close();
  }
}

async function readiness(server: TestServer): Promise<number> {
  const response = await fetch(`${server.http}/readyz`, { signal: AbortSignal.timeout(5000) });
  await response.text();
  return response.status;
}

/** What was said too often in JSON lines at warning or above. */
function floodsIn(logs: string): string[] {
  const times = new Map<string, number>();
  for (const line of logs.split('\n').filter((text) => text.startsWith('{'))) {
    const { level, msg } = JSON.parse(line) as { level: string; msg: string };
    if (level === 'warn' || level === 'error') times.set(msg, (times.get(msg) ?? 0) + 1);
  }
  const floods = [...times].filter(([message, n]) => n > TOLD && !OF_EACH.includes(message));
  return floods.map(([message, n]) => `${n} times in the log: ${message}`);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const wordsOf = (count: number): string =>
  upTo(count)
    .map((n) => `w${n} `)
    .join('');
