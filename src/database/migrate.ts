import { createHash } from 'node:crypto';
import { MigrationExecutor, type DataSource, type QueryRunner } from 'typeorm';
import { kindOf } from './columns.js';
import { mysqlSource } from './data-sources.js';
import { MIGRATIONS } from './migrations/migrations.js';

/** How long a process waits for another one that migrates the same schema, seconds. */
const LOCK_WAIT_S = 120;

/** What the schema has of our migrations. */
export interface SchemaState {
  /** Migrations of ours that it has not seen yet. */
  readonly pending: readonly string[];
  /** Migrations that it has seen and we do not know. */
  readonly unknown: readonly string[];
}

/** The schema belongs to a newer version of the product. */
export class NewerSchemaError extends Error {
  constructor(unknown: readonly string[]) {
    super(schemaIsNewer(unknown));
    this.name = 'NewerSchemaError';
  }
}

/** Says of a schema that it is newer, and what to do. */
export const schemaIsNewer = (unknown: readonly string[]): string =>
  `a newer version made the schema (${unknown.join(', ')}); run that version, or restore a backup from before its first start`;

/** Nothing to do, and nothing that a newer version did. */
export const isUpToDate = ({ pending, unknown }: SchemaState): boolean => pending.length + unknown.length === 0;

/** Compares the schema with our migrations, and changes nothing. */
export async function schemaState(source: DataSource): Promise<SchemaState> {
  const runner = source.createQueryRunner();
  try {
    return await stateBy(runner);
  } finally {
    await runner.release();
  }
}

async function stateBy(runner: QueryRunner): Promise<SchemaState> {
  const known = MIGRATIONS.map(({ name }) => name);
  const rows = (await runner.hasTable('migrations'))
    ? ((await runner.query('SELECT name FROM migrations')) as { name: string }[])
    : [];
  const executed = rows.map(({ name }) => name);
  return {
    pending: known.filter((name) => !executed.includes(name)),
    unknown: executed.filter((name) => !known.includes(name)),
  };
}

/**
 * Brings the schema up to date. Several processes may start at once on MySQL: the first migrates, the others wait
 * for it and then find nothing to do. SQLite needs no lock: one process has the file.
 * @throws NewerSchemaError when it is newer than this program
 * @throws Error when another process holds the schema for longer than two minutes
 */
export async function migrateSchema(source: DataSource): Promise<void> {
  const runner = source.createQueryRunner();
  try {
    if (kindOf(runner) === 'mysql') await migrateAlone(source, runner);
    else await executeMigrations(source, runner);
  } finally {
    await runner.release();
  }
}

/** The same on connections of its own, on which a statement may take as long as a large table needs. */
export async function migrateMysql(url: string): Promise<void> {
  const source = await mysqlSource(url, { poolSize: 2, timeoutMs: 0 }).initialize();
  try {
    await migrateSchema(source);
  } finally {
    await source.destroy();
  }
}

/** The lock belongs to a connection, so the migrations use the same one, and a crash gives it back. */
async function migrateAlone(source: DataSource, runner: QueryRunner): Promise<void> {
  const name = lockName(await schemaOf(runner));
  const taken = await scalar(runner, `SELECT GET_LOCK('${name}', ${LOCK_WAIT_S}) AS value`);
  if (taken !== '1') throw new Error(`another process has been migrating this schema for more than ${LOCK_WAIT_S} s`);
  try {
    await executeMigrations(source, runner);
  } finally {
    // with the connection the lock is gone too
    await runner.query(`SELECT RELEASE_LOCK('${name}')`).catch(() => undefined);
  }
}

async function executeMigrations(source: DataSource, runner: QueryRunner): Promise<void> {
  const { unknown } = await stateBy(runner);
  if (unknown.length > 0) throw new NewerSchemaError(unknown);
  const executor = new MigrationExecutor(source, runner);
  executor.transaction = 'each';
  await executor.executePendingMigrations();
}

function schemaOf(runner: QueryRunner): Promise<string> {
  return scalar(runner, 'SELECT DATABASE() AS value');
}

async function scalar(runner: QueryRunner, sql: string): Promise<string> {
  const rows = (await runner.query(sql)) as { value: unknown }[];
  return String(rows[0]?.value);
}

/** Locks are of the whole server and MySQL takes 64 characters at most; a schema's name may have as many. */
function lockName(schema: string): string {
  return `bridle_migrate_${createHash('sha256').update(schema).digest('hex').slice(0, 32)}`;
}
