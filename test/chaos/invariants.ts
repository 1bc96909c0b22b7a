import { isDeepStrictEqual } from 'node:util';
import { allEffects } from '../support/effects.js';
import { V1Client, type EventItem, type RunKey } from '../support/v1-client.js';
import { queueDepthOf, type ChaosCluster } from './chaos-cluster.js';
import type { Seen } from './doors.js';
import type { ObservedRun } from './findings.js';

/** How often things happened, as the database has it. */
export interface Counts {
  readonly runs: number;
  readonly events: number;
  readonly takeovers: number;
  readonly effects: number;
  readonly byStatus: Readonly<Record<string, number>>;
}

const TERMINAL_EVENTS = "('run_completed', 'run_failed', 'run_cancelled', 'run_expired')";

/** What a log must be at the end of any load; each row that a query finds is a fault. */
const FORBIDDEN_ROWS: readonly (readonly [fault: string, sql: string])[] = [
  [
    'its ids are not dense',
    'SELECT run_id FROM run_events GROUP BY run_id HAVING MIN(seq) <> 1 OR MAX(seq) <> COUNT(*)',
  ],
  [
    'it has not exactly one terminal event, which is its last',
    `SELECT run_id FROM run_events GROUP BY run_id HAVING SUM(type IN ${TERMINAL_EVENTS}) <> 1
       OR MAX(CASE WHEN type IN ${TERMINAL_EVENTS} THEN seq END) <> MAX(seq)`,
  ],
  [
    'its row does not agree with its last event',
    `SELECT r.id AS run_id FROM runs r JOIN run_events e ON e.run_id = r.id AND e.seq = r.last_seq
      WHERE e.type <> CONCAT('run_', r.status) OR e.code <> r.code OR e.status <> r.status OR r.terminal_seq <> e.seq`,
  ],
  [
    'its row has no last event',
    'SELECT r.id AS run_id FROM runs r LEFT JOIN run_events e ON e.run_id = r.id AND e.seq = r.last_seq WHERE e.seq IS NULL',
  ],
  [
    'it is ended and still leased, queued or active',
    `SELECT id AS run_id FROM runs WHERE status IN ('completed', 'failed', 'cancelled', 'expired')
       AND (lease_owner IS NOT NULL OR lease_until IS NOT NULL OR queue_state <> 'none' OR active_session_id IS NOT NULL)`,
  ],
  [
    'it is not ended',
    "SELECT id AS run_id FROM runs WHERE status NOT IN ('completed', 'failed', 'cancelled', 'expired')",
  ],
  [
    'it failed, and not because it lost its worker too often',
    "SELECT run_id FROM run_events WHERE type = 'run_failed' AND code <> 'WORKER_LOST'",
  ],
  [
    'two executions wrote in one lease',
    `SELECT DISTINCT a.run_id FROM run_events a JOIN run_events b ON b.run_id = a.run_id AND b.seq > a.seq
      WHERE JSON_VALUE(a.data, '$.streamId') <> '' AND JSON_VALUE(b.data, '$.streamId') <> ''
        AND JSON_VALUE(a.data, '$.streamId') <> JSON_VALUE(b.data, '$.streamId')
        AND NOT EXISTS (SELECT 1 FROM run_events c WHERE c.run_id = a.run_id AND c.seq > a.seq AND c.seq < b.seq
          AND c.type = 'recovered')`,
  ],
];

/** Everything that must hold when the load is over, of every run in the database. */
export async function faultsAtRest(cluster: ChaosCluster, runs: readonly ObservedRun[]): Promise<string[]> {
  const faults: string[] = [];
  for (const [fault, sql] of FORBIDDEN_ROWS) {
    for (const { run_id: runId } of await cluster.rows<{ run_id: string }>(sql)) faults.push(`run ${runId}: ${fault}`);
  }
  faults.push(...(await faultsOfEffects(cluster)));
  const rows = await cluster.rows<{ id: string }>("SELECT id FROM runs WHERE kind = 'message'");
  const known = new Set(runs.map(({ key }) => key.runId));
  for (const { id } of rows) if (!known.has(id)) faults.push(`run ${id}: nobody has a receipt of it`);
  if (known.size !== runs.length) faults.push('two requests became one run');
  for (const server of cluster.servers) {
    const depth = await queueDepthOf(server);
    if (depth !== 0) faults.push(`bridle_queue_depth is ${depth}`);
  }
  const v1 = new V1Client(cluster.servers[0]!);
  for (const run of runs) faults.push(...(await faultsOfRun(v1, run)));
  return faults;
}

export async function countsOf(cluster: ChaosCluster): Promise<Counts> {
  const one = async (sql: string): Promise<number> => Number((await cluster.rows<{ n: number }>(sql))[0]?.n);
  const statuses = await cluster.rows<{ status: string; n: number }>(
    "SELECT status, COUNT(*) AS n FROM runs WHERE kind = 'message' GROUP BY status",
  );
  return {
    runs: await one("SELECT COUNT(*) AS n FROM runs WHERE kind = 'message'"),
    events: await one('SELECT COUNT(*) AS n FROM run_events'),
    takeovers: await one("SELECT COUNT(*) AS n FROM run_events WHERE type = 'recovered'"),
    effects: allEffects(cluster).length,
    byStatus: Object.fromEntries(statuses.map(({ status, n }) => [status, Number(n)])),
  };
}

/** An unsafe effect happens at most once, and a call that ended well has had its effect. */
async function faultsOfEffects(cluster: ChaosCluster): Promise<string[]> {
  const times = new Map<string, number>();
  for (const { runId, stepKey, tool } of allEffects(cluster)) {
    const key = `${runId} ${stepKey.replace(/^tool:/, '')} ${tool}`;
    times.set(key, (times.get(key) ?? 0) + 1);
  }
  const isUnsafe = (key: string): boolean => !/ (ro|idem)_\w+$/.test(key);
  const faults = [...times]
    .filter(([key, n]) => n > 1 && isUnsafe(key))
    .map(([key, n]) => `${n} times the effect ${key}`);
  const calls = await cluster.rows<{ run_id: string; call_id: string; tool: string }>(
    `SELECT run_id, JSON_VALUE(data, '$.callId') AS call_id, JSON_VALUE(data, '$.toolName') AS tool
       FROM run_events WHERE type = 'tool_call_end' AND JSON_VALUE(data, '$.outcome') = 'ok'`,
  );
  for (const { run_id: runId, call_id: callId, tool } of calls) {
    if (!times.has(`${runId} ${callId} ${tool}`)) faults.push(`no effect of the call ${callId} of run ${runId}`);
  }
  return faults;
}

/** A completed run has its whole text, and each observer saw its log, once each. */
async function faultsOfRun(v1: V1Client, { key, text, observations }: ObservedRun): Promise<string[]> {
  const state = await v1.page(key);
  const said = state.result?.data['text'];
  const faults: string[] = [];
  if (state.status === 'completed' && said !== text)
    faults.push(`said ${JSON.stringify(said)}, not ${JSON.stringify(text)}`);
  const items = await v1.events(key);
  const envelopes = (await v1.follow(key)).map((frame) => JSON.parse(frame.data) as unknown);
  for (const seen of observations) faults.push(...faultsOfObservation(seen, items, envelopes));
  return faults.map((fault) => `run ${nameOf(key)}: ${fault}`);
}

function faultsOfObservation(
  seen: readonly Seen[],
  items: readonly EventItem[],
  envelopes: readonly unknown[],
): string[] {
  const ids = seen.map(({ id }) => id).join();
  const all = items.map(({ id }) => id).join();
  if (ids !== all) return [`an observer saw the ids ${ids}, the log has ${all}`];
  const changed = seen.find(({ door, type, payload }, index) => {
    if (door === 'grpc') return type !== items[index]?.type;
    return !isDeepStrictEqual(payload, door === 'poll' ? items[index] : envelopes[index]);
  });
  return changed === undefined ? [] : [`event ${changed.id} was another one when ${changed.door} showed it first`];
}

const nameOf = ({ runId, sessionId }: RunKey): string => `${runId} of session ${sessionId}`;
