import { accessSync, constants, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Config } from '../config/config.js';
import { sqlitePath } from '../database/data-sources.js';
import type { Database } from '../database/database.js';

/** One line of the start: green with what is there, red with what to do. */
export interface Check {
  readonly name: string;
  readonly isGood: boolean;
  /** What was found, or the fix. */
  readonly text: string;
}

const require = createRequire(import.meta.url);
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
  ];
}

/** What only an open database can tell. */
export async function checkDatabase(database: Database): Promise<Check[]> {
  if (database.kind === 'sqlite') {
    const rows = await database.query<{ version: string }>('SELECT sqlite_version() AS version');
    return [
      good(
        'database',
        `SQLite ${rows[0]?.version ?? ''}${database.isDurable ? '' : ', in memory: runs do not survive a restart'}`,
      ),
    ];
  }
  const rows = await database.query<{ version: string; charset: string; zone: string }>(
    'SELECT VERSION() AS version, @@character_set_connection AS charset, @@session.time_zone AS zone',
  );
  const facts = rows[0];
  if (facts === undefined) return [bad('database', 'the database says nothing of itself')];
  const isolation = await isolationOf(database);
  return [
    checkVersion(facts.version),
    facts.charset === 'utf8mb4'
      ? good('charset', 'the connection speaks utf8mb4')
      : bad('charset', `the connection speaks ${facts.charset}; it must be utf8mb4`),
    isolation === 'READ-COMMITTED'
      ? good('isolation', 'READ COMMITTED')
      : bad('isolation', `${isolation}; allow SET SESSION TRANSACTION ISOLATION LEVEL`),
    facts.zone === '+00:00' ? good('time zone', 'UTC') : bad('time zone', `${facts.zone}; allow SET SESSION time_zone`),
  ];
}

/** The variable's name differs between MySQL and MariaDB; both may know the other one too. */
async function isolationOf(database: Database): Promise<string> {
  const rows = await database.query<{ Value: string }>(
    "SHOW SESSION VARIABLES WHERE Variable_name IN ('transaction_isolation', 'tx_isolation')",
  );
  return rows[0]?.Value ?? 'unknown';
}

/** Checks a server's version: CHECK constraints are enforced only from these on. */
export function checkVersion(version: string): Check {
  const isMaria = /mariadb/i.test(version);
  const minimum = isMaria ? [10, 6, 0] : [8, 0, 16];
  const numbers = /(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number) ?? [];
  const isOld = isBefore(numbers, minimum);
  const wanted = `${isMaria ? 'MariaDB' : 'MySQL'} ${minimum.join('.')} or newer is needed`;
  return isOld ? bad('database', `${version}; ${wanted}`) : good('database', version);
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
    return bad(name, `the package is not installed, but ${why}; run npm install ${name}`);
  }
}

function isBefore(version: readonly number[], minimum: readonly number[]): boolean {
  for (const [index, wanted] of minimum.entries()) {
    const found = version[index] ?? 0;
    if (found !== wanted) return found < wanted;
  }
  return false;
}

const good = (name: string, text: string): Check => ({ name, isGood: true, text });
const bad = (name: string, text: string): Check => ({ name, isGood: false, text });
