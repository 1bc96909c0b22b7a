import type { DataSource, Logger } from 'typeorm';
import type { Database } from '../../src/database/database.js';
import { ALICE, aMessage, aSession, finish, runIdOf, submitted, until, useCore, type Core } from '../support/core.js';
import { databasesUnderTest } from '../support/databases.js';

interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Notes every statement of both sources. */
class Recorder implements Logger {
  readonly statements = new Map<string, Statement>();

  logQuery(sql: string, parameters: unknown[] = []): void {
    if (!/^(SELECT|UPDATE|DELETE)/i.test(sql) || sql.includes('RELEASE')) return;
    const shape = sql.replace(/\(\?(, \?)*\)/g, '(?)');
    this.statements.set(shape, { sql, parameters });
  }
  logQueryError(): void {
    // the test fails by itself
  }
  logQuerySlow(): void {
    // not asked for
  }
  logSchemaBuild(): void {
    // nothing is built
  }
  logMigration(): void {
    // nothing migrates
  }
  log(): void {
    // nothing else
  }
}

const SESSIONS = 1500;
const RUNS_PER_SESSION = 2;
const EVENTS_PER_RUN = 8;

async function insertMany(database: Database, table: string, rows: readonly Record<string, unknown>[]): Promise<void> {
  const names = Object.keys(rows[0]!);
  for (let start = 0; start < rows.length; start += 1000) {
    const chunk = rows.slice(start, start + 1000);
    const marks = chunk.map(() => `(${names.map(() => '?').join(', ')})`).join(', ');
    await database.inTransaction((manager) =>
      manager.query(
        `INSERT INTO ${table} (${names.join(', ')}) VALUES ${marks}`,
        chunk.flatMap((row) => names.map((name) => row[name])),
      ),
    );
  }
}

/** A tenant with a long past: a database plans another way over an empty table. */
async function fill(database: Database): Promise<void> {
  const sessions = Array.from(
    { length: SESSIONS },
    (_unused, n) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`,
  );
  const runs = sessions.flatMap((session, s) =>
    Array.from({ length: RUNS_PER_SESSION }, (_unused, n) => ({ id: `r-${s}-${n}`, session, ord: n + 1 })),
  );
  await insertMany(
    database,
    'sessions',
    sessions.map((id, n) => ({
      id,
      tenant_id: 't1',
      app_name: 'harness_agent',
      user_id: `user-${n % 50}`,
      external_id: id,
      state: '{}',
      capabilities: '[]',
      client_reference: `ref-${n % 100}`,
      status: n % 3 === 0 ? 'erased' : 'open',
      created_at: 1,
      updated_at: 1,
    })),
  );
  await insertMany(
    database,
    'runs',
    runs.map(({ id, session, ord }) => ({
      id,
      tenant_id: 't1',
      session_id: session,
      ord,
      kind: 'message',
      agent: 'harness_agent',
      invocation_id: 'e-1',
      status: 'completed',
      code: 'RUN_COMPLETED',
      stage: 'completed',
      language: 'en',
      on_disconnect: 'continue',
      capabilities: '[]',
      queue_state: 'none',
      available_at: 1,
      exec_ms: 0,
      token_usage: '{}',
      events_kept: 'terminal',
      created_at: 1,
      ended_at: 1,
    })),
  );
  const events = runs.flatMap(({ id, session, ord }) =>
    Array.from({ length: EVENTS_PER_RUN }, (_unused, n) => ({
      run_id: id,
      seq: n + 1,
      tenant_id: 't1',
      session_id: session,
      run_ord: ord,
      type: 'reason_delta',
      status: 'running',
      code: 'CALLING_MODEL',
      stage: 'reasoning',
      at: 1,
      is_history: n % 2,
      data: '{}',
    })),
  );
  await insertMany(database, 'run_events', events);
  if (database.kind === 'mysql') await database.query('ANALYZE TABLE sessions, runs, run_events');
}

/** Does once whatever a server does all day. */
async function useEverything(core: Core): Promise<void> {
  const sessionId = await aSession(core);
  const message = aMessage(sessionId);
  const runId = runIdOf(await core.runs.submit(ALICE, message));
  await core.runs.submit(ALICE, message);
  const waiting = await submitted(core, sessionId);
  const lease = (await core.claims.claimNext())!;
  await core.log.append(lease, { type: 'run_start', runId, sessionId, at: 1, agentName: 'a', streamId: 's' });
  await core.contexts.load(runId);
  await core.runs.page(ALICE, { sessionId, runId, cursor: 0, limit: 10, waitMs: 0 }, new AbortController().signal);
  await core.runs.snapshot(ALICE, sessionId, { runs: 5, events: true });
  await core.runs.snapshot(ALICE, sessionId, { runs: 5, before: waiting, events: false });
  await core.runs.history(ALICE, sessionId);
  await core.sessions.list(ALICE, { limit: 10 });
  const page = await core.sessions.list(ALICE, { limit: 1, clientReference: 'ref-1' });
  await core.sessions.list(ALICE, { limit: 10, pageToken: page.nextPageToken! });
  await core.sessions.listNamed(ALICE, 'harness_agent', 'user-1');
  await core.runs.cancel(ALICE, { sessionId, requestId: 'stop', runId: waiting });
  await core.runs.importEvents(ALICE, sessionId, { events: [], stateDelta: { a: 1 } });
  core.held.hold(lease);
  await core.renewal.renew();
  await core.flags.readFlags();
  await core.takeover.takeOver(runId, undefined);
  await finish(core, (await core.claims.claimNext())!);
  await core.reaper.round();
  await core.runs.closeSession(ALICE, sessionId);
  await until('the session is erased', async () => {
    await core.closing.eraseClosed();
    const rows = await core.database.query<{ status: string }>('SELECT status FROM sessions WHERE id = ?', [sessionId]);
    return rows[0]?.status === 'erased';
  });
}

/** Indexes whose first column alone says little: a status, a tenant. */
const BROAD = /USING INDEX (ix_runs_list|ix_sessions_list) \(tenant_id=\?\)/;

function readsTooMuch(step: string): boolean {
  return /^SCAN (?!CONSTANT ROW)/.test(step) || BROAD.test(step);
}

/** The steps of a plan that read a whole table, or all of a tenant. */
async function scansOf(database: Database, { sql, parameters }: Statement): Promise<string[]> {
  if (database.kind === 'sqlite') {
    const steps = await database.query<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, parameters);
    return steps.map(({ detail }) => detail).filter(readsTooMuch);
  }
  const steps = await database.query<{ table: string; type: string; key: string | null; rows: number }>(
    `EXPLAIN ${sql}`,
    parameters,
  );
  return (
    steps
      // the newest of a list are found by walking an index backwards: only a walk of many rows is a scan
      .filter(({ type, rows }) => type === 'ALL' || (type === 'index' && rows > 100))
      .map(({ table, type, key, rows }) => `${type} ${table} ${key ?? ''} ${rows}`)
  );
}

describe.each(databasesUnderTest())('plans on $name', (store) => {
  const suite = useCore(store);

  it('read no whole table, however long the past is', async () => {
    const { core, database } = suite;
    await fill(database);
    const recorder = new Recorder();
    const sources = database as unknown as { writer: DataSource; reader: DataSource };
    for (const source of [sources.writer, sources.reader]) {
      source.setOptions({ logging: true, logger: recorder });
    }
    await useEverything(core);
    const statements = [...recorder.statements.values()];
    const scans: Record<string, string[]> = {};
    for (const statement of statements) {
      const found = await scansOf(database, statement);
      if (found.length > 0) scans[statement.sql] = found;
    }
    expect(statements.length).toBeGreaterThan(40);
    expect(scans).toEqual({});
  });
});
