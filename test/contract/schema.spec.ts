import type { DataSource } from 'typeorm';
import { isCheckViolation, isDuplicateKey } from '../../src/database/database-errors.js';
import { mysqlSource, sqlitePath, sqliteWriter } from '../../src/database/data-sources.js';
import { CHECKS, TABLES } from '../../src/database/migrations/migrations.js';
import { databasesUnderTest, type TestDatabase } from '../support/databases.js';

/** InnoDB's limit of a key; MariaDB hides an over-long unique key behind a hash, MySQL refuses it. */
const MAX_KEY_BYTES = 3072;
const BYTES_PER_CHARACTER = 4;

/** A complete row of each table, over which a test lays what it asks about. */
const ROWS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  sessions: {
    id: 's1',
    tenant_id: 't1',
    app_name: 'a',
    user_id: 'u',
    external_id: 's1',
    state: '{}',
    capabilities: '[]',
    status: 'open',
    created_at: 1,
    updated_at: 1,
  },
  runs: {
    id: 'r1',
    tenant_id: 't1',
    session_id: 's1',
    ord: 1,
    kind: 'message',
    agent: 'a',
    invocation_id: 'e-1',
    status: 'queued',
    code: 'RUN_QUEUED',
    stage: 'queued',
    language: 'en',
    on_disconnect: 'continue',
    capabilities: '[]',
    queue_state: 'ready',
    available_at: 1,
    exec_ms: 0,
    token_usage: '{}',
    events_kept: 'all',
    created_at: 1,
  },
  run_events: {
    run_id: 'r1',
    seq: 1,
    tenant_id: 't1',
    session_id: 's1',
    run_ord: 1,
    type: 'run_queued',
    status: 'queued',
    code: 'RUN_QUEUED',
    stage: 'queued',
    at: 1,
    is_history: 1,
    data: '{}',
  },
  run_inputs: { run_id: 'r1', n: 1, tenant_id: 't1', kind: 'message', actor: 'u', body: '{}', received_at: 1 },
  resources: { session_id: 's1', resource_id: 'p1', tenant_id: 't1', kind: 'upload', created_at: 1 },
};

async function insert(source: DataSource, table: string, changes: Readonly<Record<string, unknown>>): Promise<void> {
  const row = { ...ROWS[table], ...changes };
  const names = Object.keys(row);
  const marks = names.map(() => '?').join(', ');
  await source.query(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks})`, Object.values(row));
}

describe.each(databasesUnderTest())('the schema on $name', ({ name, create }) => {
  let place: TestDatabase;
  let source: DataSource;

  beforeEach(async () => {
    place = await create();
    const path = sqlitePath(place.url);
    source = await (
      path === undefined ? mysqlSource(place.url, { poolSize: 2, timeoutMs: 0 }) : sqliteWriter(path, 'normal')
    ).initialize();
    await source.runMigrations();
  });

  afterEach(async () => {
    await source.destroy();
    await place.drop();
  });

  it('is made once, and undone completely', async () => {
    expect(await source.runMigrations()).toEqual([]);
    for (let left = source.migrations.length; left > 0; left -= 1) await source.undoLastMigration();
    const tables =
      name === 'sqlite'
        ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('migrations', 'sqlite_sequence')"
        : "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name <> 'migrations'";
    expect(await source.query(tables)).toEqual([]);
  });

  it.each(Object.keys(ROWS))('accepts a complete row of %s, and not the same key again', async (table) => {
    await insert(source, table, {});
    const again = await insert(source, table, {}).catch((error: unknown) => error);
    expect(isDuplicateKey(again)).toBe(true);
  });

  /** `table.column` of every CHECK that lists values, as the database itself tells them. */
  const enumerations = async (): Promise<readonly string[]> => {
    const rows = await source.query<{ name: string; sql: string }[]>(
      name === 'sqlite'
        ? "SELECT name, sql FROM sqlite_master WHERE type = 'table'"
        : `SELECT t.table_name AS name, c.check_clause AS \`sql\` FROM information_schema.check_constraints c
           JOIN information_schema.table_constraints t
             ON t.constraint_schema = c.constraint_schema AND t.constraint_name = c.constraint_name
           WHERE c.constraint_schema = DATABASE()`,
    );
    const found = rows.flatMap(({ name: table, sql }) =>
      [...sql.matchAll(/(\w+)`? in \(/gi)].map(([, column]) => `${table}.${column}`),
    );
    return [...new Set(found)].toSorted();
  };

  it('refuses a value that no enumeration has, in every column that is one', async () => {
    const columns = await enumerations();
    expect(columns).toEqual([
      'resources.kind',
      'run_events.is_history',
      'run_events.status',
      'run_inputs.kind',
      'runs.events_kept',
      'runs.kind',
      'runs.on_disconnect',
      'runs.queue_state',
      'runs.status',
      'sessions.status',
    ]);
    for (const each of columns) {
      const [table, column] = each.split('.') as [string, string];
      const value = column === 'is_history' ? 2 : 'none of it';
      const refusal = await insert(source, table, { [column]: value }).catch((error: unknown) => error);
      expect([each, isCheckViolation(refusal)]).toEqual([each, true]);
    }
  });

  it('holds the tables and the CHECKs that the start-up check looks for', async () => {
    const [tables, checks] =
      name === 'sqlite'
        ? ["SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'", undefined]
        : [
            'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()',
            'SELECT constraint_name AS name FROM information_schema.check_constraints WHERE constraint_schema = DATABASE()',
          ];
    const namesOf = async (sql: string): Promise<readonly string[]> =>
      (await source.query<{ name: string }[]>(sql)).map((row) => row.name);
    expect((await namesOf(tables)).toSorted()).toEqual([...TABLES, 'migrations'].toSorted());
    if (checks !== undefined) expect(await namesOf(checks)).toEqual(expect.arrayContaining([...CHECKS]));
  });

  it.each([
    ['a running run without its session', { status: 'running', active_session_id: null }],
    ['a completed run that still holds its session', { status: 'completed', active_session_id: 's1' }],
  ])('refuses %s', async (_what, changes) => {
    const refusal = await insert(source, 'runs', changes).catch((error: unknown) => error);
    expect(isCheckViolation(refusal)).toBe(true);
  });

  it('lets one run of a session be active', async () => {
    await insert(source, 'runs', { status: 'running', active_session_id: 's1' });
    await insert(source, 'runs', { id: 'r2', ord: 2 });
    const second = await insert(source, 'runs', { id: 'r3', ord: 3, status: 'running', active_session_id: 's1' }).catch(
      (error: unknown) => error,
    );
    expect(isDuplicateKey(second)).toBe(true);
  });

  it('tells ids apart byte by byte', async () => {
    await insert(source, 'resources', { resource_id: 'é' });
    await insert(source, 'resources', { resource_id: 'É' });
    await insert(source, 'resources', { resource_id: 'e\u0301' });
    const found = await source.query<{ resource_id: string }[]>(
      'SELECT resource_id FROM resources WHERE resource_id = ?',
      ['é'],
    );
    expect(found).toEqual([{ resource_id: 'é' }]);
  });

  it('keeps every key short enough for MySQL', async () => {
    const runner = source.createQueryRunner();
    const tables = await runner.getTables(Object.keys(ROWS).concat('app_states', 'user_states', 'requests'));
    await runner.release();
    const keys = tables.flatMap((table) => {
      const bytesOf = (names: readonly string[]): number =>
        names.reduce((sum, column) => {
          const length = Number(table.findColumnByName(column)?.length || 2);
          return sum + length * BYTES_PER_CHARACTER;
        }, 0);
      return [
        ['primary', table.primaryColumns.map((column) => column.name)] as const,
        ...table.uniques.map((unique) => [unique.name, unique.columnNames] as const),
        ...table.indices.map((index) => [index.name, index.columnNames] as const),
      ].map(([key, names]) => ({ key: `${table.name}.${key ?? ''}`, bytes: bytesOf(names) }));
    });
    expect(keys.length).toBeGreaterThan(tables.length);
    expect(keys.filter(({ bytes }) => bytes > MAX_KEY_BYTES)).toEqual([]);
  });
});
