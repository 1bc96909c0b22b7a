import type { Clock } from '../common/clock.js';
import type { Config } from '../config/config.js';
import type { Database } from '../database/database.js';
import { CHECKS, TABLES } from '../database/migrations/migrations.js';
import { bad, good, isBefore, risky, type Check } from './check.js';
import { missingPrivileges } from './mysql-privileges.js';

/** What a server says of itself, of the schema and of our session. */
export interface MysqlFacts {
  readonly version: string;
  readonly schema: string;
  readonly schemaCharset: string;
  /** By name; the names differ between MySQL and MariaDB, so some are missing. */
  readonly variables: Readonly<Record<string, string>>;
  /** `table.column collation` of text columns of ours that do not compare byte by byte. */
  readonly otherCollations: readonly string[];
  /** `table engine` of tables of ours that are not InnoDB's. */
  readonly otherEngines: readonly string[];
  /** Names of the CHECK constraints in the schema. */
  readonly checks: readonly string[];
  readonly grants: readonly string[];
  /** How far its clock is ahead of ours, milliseconds. */
  readonly aheadMs: number;
}

/** What the checks need to know of us. */
export interface MysqlDemands {
  /** The largest body that a door takes, bytes. */
  readonly largestBody: number;
  readonly hasPendingMigrations: boolean;
}

/** The largest body that a door takes, bytes: its text may become one row. */
export const largestBodyOf = ({ http, grpc }: Config): number => Math.max(http.maxBodyBytes, grpc.maxReceiveBytes);

const VARIABLES = [
  'transaction_isolation',
  'tx_isolation',
  'time_zone',
  'sql_mode',
  'character_set_client',
  'character_set_connection',
  'character_set_results',
  'check_constraint_checks',
  'max_allowed_packet',
  'innodb_page_size',
  'innodb_default_row_format',
  'log_bin',
  'binlog_format',
  'read_only',
];

/** Asks an open MySQL or MariaDB for what the checks judge. */
export async function mysqlFacts(database: Database, clock: Clock): Promise<MysqlFacts> {
  const [server] = await database.query<{ version: string; name: string; charset: string }>(
    `SELECT VERSION() AS version, schema_name AS name, default_character_set_name AS charset
     FROM information_schema.schemata WHERE schema_name = DATABASE()`,
  );
  const marks = (values: readonly unknown[]): string => values.map(() => '?').join(', ');
  const variables = await database.query<{ Variable_name: string; Value: string }>(
    `SHOW SESSION VARIABLES WHERE Variable_name IN (${marks(VARIABLES)})`,
    VARIABLES,
  );
  const collations = await database.query<{ found: string }>(
    `SELECT CONCAT(table_name, '.', column_name, ' ', collation_name) AS found FROM information_schema.columns
     WHERE table_schema = DATABASE() AND table_name IN (${marks(TABLES)}) AND collation_name <> 'utf8mb4_bin'`,
    TABLES,
  );
  const engines = await database.query<{ found: string }>(
    `SELECT CONCAT(table_name, ' ', engine) AS found FROM information_schema.tables
     WHERE table_schema = DATABASE() AND table_name IN (${marks(TABLES)}) AND engine <> 'InnoDB'`,
    TABLES,
  );
  const checks = await database.query<{ name: string }>(
    'SELECT constraint_name AS name FROM information_schema.check_constraints WHERE constraint_schema = DATABASE()',
  );
  const grants = await database.query<Record<string, string>>('SHOW GRANTS');
  return {
    version: server?.version ?? '',
    schema: server?.name ?? '',
    schemaCharset: server?.charset ?? '',
    variables: Object.fromEntries(variables.map(({ Variable_name, Value }) => [Variable_name, Value])),
    otherCollations: collations.map(({ found }) => found),
    otherEngines: engines.map(({ found }) => found),
    checks: checks.map(({ name }) => name),
    grants: grants.flatMap((row) => Object.values(row)),
    aheadMs: await aheadMs(database, clock),
  };
}

/** The middle of the question is when the server looked at its clock. */
async function aheadMs(database: Database, clock: Clock): Promise<number> {
  const before = clock.nowMs();
  const theirs = await database.inTransaction((manager) => database.nowMs(manager));
  return theirs - (before + clock.nowMs()) / 2;
}

/** One line for each thing that we depend on. */
export function judgeMysql(facts: MysqlFacts, demands: MysqlDemands): Check[] {
  return [
    checkVersion(facts.version),
    checkCharset(facts),
    checkSession(facts.variables),
    checkConstraints(facts, demands),
    checkTables(facts),
    checkKeys(facts.variables),
    checkPacket(Number(facts.variables['max_allowed_packet']), demands.largestBody),
    checkWrites(facts.variables),
    checkPrivileges(facts, demands),
    checkClock(facts.aheadMs),
  ];
}

/** Checks a server's version: CHECK constraints are enforced only from these on. */
export function checkVersion(version: string): Check {
  const isMaria = /mariadb/i.test(version);
  const minimum = isMaria ? [10, 6, 0] : [8, 0, 16];
  const numbers = /(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number) ?? [];
  const wanted = `${isMaria ? 'MariaDB' : 'MySQL'} ${minimum.join('.')} or newer is needed`;
  return isBefore(numbers, minimum) ? bad('database', `${version}; ${wanted}`) : good('database', version);
}

function checkCharset({ schema, schemaCharset, variables, otherCollations }: MysqlFacts): Check {
  const ours = ['client', 'connection', 'results'].map((part) => variables[`character_set_${part}`]);
  const spoken = ours.find((charset) => charset !== 'utf8mb4');
  if (spoken !== undefined) return bad('charset', `the connection speaks ${spoken}; allow SET NAMES utf8mb4`);
  if (schemaCharset !== 'utf8mb4') {
    const fix = `ALTER DATABASE ${schema} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`;
    return bad('charset', `the schema ${schema} is ${schemaCharset}; run ${fix}`);
  }
  if (otherCollations.length > 0) {
    const list = otherCollations.join(', ');
    return bad('charset', `ids are compared byte by byte, but these columns are not utf8mb4_bin: ${list}`);
  }
  return good('charset', 'utf8mb4');
}

function checkSession(variables: MysqlFacts['variables']): Check {
  const isolation = variables['transaction_isolation'] ?? variables['tx_isolation'] ?? 'unknown';
  if (isolation !== 'READ-COMMITTED') {
    return bad('session', `isolation is ${isolation}; allow SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED`);
  }
  const zone = variables['time_zone'];
  if (zone !== '+00:00') return bad('session', `the time zone is ${zone ?? 'unknown'}; allow SET SESSION time_zone`);
  const modes = variables['sql_mode']?.split(',') ?? [];
  if (!modes.includes('STRICT_ALL_TABLES') || modes.includes('NO_BACKSLASH_ESCAPES')) {
    return bad('session', `sql_mode is ${modes.join(',') || 'empty'}; allow SET SESSION sql_mode`);
  }
  return good('session', 'READ COMMITTED, UTC, strict');
}

/** A schema that was restored without its CHECKs would take anything. */
function checkConstraints({ variables, checks }: MysqlFacts, { hasPendingMigrations }: MysqlDemands): Check {
  if (variables['check_constraint_checks'] === 'OFF') {
    return bad('constraints', 'CHECKs are switched off; allow SET SESSION check_constraint_checks');
  }
  if (hasPendingMigrations) return good('constraints', 'CHECKs are made by the migrations that wait');
  const missing = CHECKS.filter((name) => !checks.includes(name));
  return missing.length > 0
    ? bad('constraints', `CHECKs are missing: ${missing.join(', ')}; restore the schema with its constraints`)
    : good('constraints', `${CHECKS.length} CHECKs`);
}

function checkTables({ otherEngines }: MysqlFacts): Check {
  return otherEngines.length > 0
    ? bad('tables', `these are not InnoDB: ${otherEngines.join(', ')}; run ALTER TABLE … ENGINE = InnoDB`)
    : good('tables', 'InnoDB');
}

const PAGE_BYTES = 16_384;

/** Our longest key has 2,816 bytes; smaller pages and the old row formats take less. */
function checkKeys(variables: MysqlFacts['variables']): Check {
  const page = Number(variables['innodb_page_size']);
  if (page < PAGE_BYTES)
    return bad('keys', `innodb_page_size is ${page}; keys need ${PAGE_BYTES}, which a server is made with`);
  const format = variables['innodb_default_row_format'] ?? 'unknown';
  return format === 'dynamic' || format === 'compressed'
    ? good('keys', 'up to 3072 bytes')
    : bad('keys', `innodb_default_row_format is ${format}, which takes keys of 767 bytes; set it to dynamic`);
}

const MIB = 1024 * 1024;
const LEAST_PACKET = 4 * MIB;
/** Beside a text, a statement has its words, and a backslash before each quote. */
const AROUND_BODY = 1.25;

function checkPacket(packet: number, largestBody: number): Check {
  const inMib = (bytes: number): string => `${Math.ceil(bytes / MIB)} MiB`;
  const wanted = Math.ceil((largestBody * AROUND_BODY) / MIB) * MIB;
  const fix = `set max_allowed_packet to ${inMib(wanted)}`;
  if (packet < LEAST_PACKET) return bad('packet', `max_allowed_packet is ${packet} bytes; ${fix}`);
  return packet < wanted
    ? risky('packet', `max_allowed_packet is ${inMib(packet)}: larger texts are refused with 413; ${fix}`)
    : good('packet', inMib(packet));
}

function checkWrites(variables: MysqlFacts['variables']): Check {
  const readOnly = variables['read_only'] ?? 'OFF';
  if (readOnly !== 'OFF') return bad('writes', 'the server is read-only; name the primary in database.url');
  return variables['log_bin'] === 'ON' && variables['binlog_format'] === 'STATEMENT'
    ? bad('writes', 'binlog_format is STATEMENT, which refuses READ COMMITTED; set it to ROW')
    : good('writes', 'the server takes them');
}

function checkPrivileges({ grants, schema }: MysqlFacts, { hasPendingMigrations }: MysqlDemands): Check {
  const missing = missingPrivileges(grants, schema, hasPendingMigrations);
  return missing.length > 0
    ? bad('privileges', `missing: ${missing.join(', ')}; run GRANT ${missing.join(', ')} ON ${schema}.* TO this user`)
    : good('privileges', hasPendingMigrations ? 'to migrate, read and write' : 'to read and write');
}

const RISKY_SKEW_MS = 2000;
const BAD_SKEW_MS = 60_000;

/** Leases are judged by the database's clock alone; the times that people read are ours. */
function checkClock(skewMs: number): Check {
  const seconds = (Math.abs(skewMs) / 1000).toFixed(1);
  const text = `the database is ${seconds} s ${skewMs < 0 ? 'behind' : 'ahead of'} this machine; run NTP on both`;
  if (Math.abs(skewMs) >= BAD_SKEW_MS) return bad('clock', text);
  return Math.abs(skewMs) >= RISKY_SKEW_MS ? risky('clock', text) : good('clock', `${seconds} s apart`);
}
