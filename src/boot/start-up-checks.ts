import { accessSync, constants, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Clock } from '../common/clock.js';
import type { Config } from '../config/config.js';
import { sqlitePath } from '../database/data-sources.js';
import type { Database } from '../database/database.js';
import { schemaIsNewer, type SchemaState } from '../database/migrate.js';
import { bad, good, isBefore, type Check } from './check.js';
import { judgeMysql, largestBodyOf, mysqlFacts } from './mysql-checks.js';

const require = createRequire(import.meta.url);

/** The packages of the providers that have a wire of their own. */
const SDK_PACKAGES = { anthropic: '@ai-sdk/anthropic', google: '@ai-sdk/google' } as const;

const MINIMUM_NODE = [20, 19] as const;

/** What can be told before the database is opened. */
export function checkMachine(config: Config): Check[] {
  return [
    checkNode(process.versions.node),
    checkStorage(config.storage.dir),
    sqlitePath(config.database.url) === undefined
      ? checkPackage('mysql2', 'database.url names MySQL')
      : checkPackage('better-sqlite3', 'database.url names SQLite'),
    checkPackage('sharp', 'pictures are decoded with it'),
    ...Object.entries(SDK_PACKAGES)
      .filter(([provider]) => provider === config.model.provider)
      .map(([provider, name]) => checkPackage(name, `model.provider is ${provider}`)),
  ];
}

/** What only an open database can tell. */
export async function checkDatabase(database: Database, config: Config, clock: Clock): Promise<Check[]> {
  const state = await database.schemaState();
  const demands = { largestBody: largestBodyOf(config), hasPendingMigrations: state.pending.length > 0 };
  const checks =
    database.kind === 'sqlite' ? [await checkSqlite(database)] : judgeMysql(await mysqlFacts(database, clock), demands);
  return [...checks, checkSchema(state)];
}

async function checkSqlite(database: Database): Promise<Check> {
  const rows = await database.query<{ version: string }>('SELECT sqlite_version() AS version');
  const version = `SQLite ${rows[0]?.version ?? ''}`;
  return good('database', database.isDurable ? version : `${version}, in memory: runs do not survive a restart`);
}

function checkSchema({ pending, unknown }: SchemaState): Check {
  if (unknown.length > 0) return bad('schema', schemaIsNewer(unknown));
  return good('schema', pending.length === 0 ? 'up to date' : `migrations to do: ${pending.length}`);
}

function checkNode(version: string): Check {
  const numbers = version.split('.').map(Number);
  return isBefore(numbers, MINIMUM_NODE)
    ? bad('node', `${version}; install Node ${MINIMUM_NODE.join('.')} or newer`)
    : good('node', version);
}

function checkStorage(dir: string): Check {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    accessSync(dir, constants.W_OK);
    return good('storage', dir);
  } catch {
    return bad('storage', `${dir} cannot be written; set storage.dir (BRIDLE_STORAGE_DIR) to a folder that can`);
  }
}

function checkPackage(name: string, why: string): Check {
  try {
    require.resolve(name);
    return good(name, why);
  } catch {
    const fix = `the package is not installed, but ${why}; run npm install ${name}`;
    return { ...bad(name, fix), isConfiguration: true };
  }
}
