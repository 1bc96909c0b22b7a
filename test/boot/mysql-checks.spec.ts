import { checkVersion, judgeMysql, type MysqlDemands, type MysqlFacts } from '../../src/boot/mysql-checks.js';
import { CHECKS } from '../../src/database/migrations/migrations.js';

describe('checkVersion', () => {
  it.each([
    '8.0.16',
    '8.0.36-0ubuntu0.22.04.1',
    '8.4.0',
    '9.1.0',
    '10.6.0-MariaDB',
    '10.11.19-MariaDB-0+deb12u1',
    '11.4.5-MariaDB-log',
  ])('takes %s', (version) => {
    expect(checkVersion(version)).toEqual({ name: 'database', isGood: true, text: version });
  });

  it.each([
    ['8.0.15', 'MySQL 8.0.16 or newer is needed'],
    ['5.7.44-log', 'MySQL 8.0.16 or newer is needed'],
    ['10.5.22-MariaDB', 'MariaDB 10.6.0 or newer is needed'],
    // a MariaDB of this number is older than MySQL 8, whatever the figures say
    ['9.9.9-MariaDB', 'MariaDB 10.6.0 or newer is needed'],
    ['', 'MySQL 8.0.16 or newer is needed'],
    ['unknown', 'MySQL 8.0.16 or newer is needed'],
  ])('refuses %j', (version, wanted) => {
    expect(checkVersion(version)).toEqual({ name: 'database', isGood: false, text: `${version}; ${wanted}` });
  });
});

const MIB = 1024 * 1024;

const FACTS: MysqlFacts = {
  version: '8.4.0',
  schema: 'bridle',
  schemaCharset: 'utf8mb4',
  variables: {
    transaction_isolation: 'READ-COMMITTED',
    time_zone: '+00:00',
    sql_mode: 'ONLY_FULL_GROUP_BY,STRICT_ALL_TABLES',
    character_set_client: 'utf8mb4',
    character_set_connection: 'utf8mb4',
    character_set_results: 'utf8mb4',
    max_allowed_packet: String(64 * MIB),
    innodb_page_size: '16384',
    innodb_default_row_format: 'dynamic',
    log_bin: 'ON',
    binlog_format: 'ROW',
    read_only: 'OFF',
  },
  otherCollations: [],
  otherEngines: [],
  checks: CHECKS,
  grants: ['GRANT USAGE ON *.* TO `u`@`%`', 'GRANT ALL PRIVILEGES ON `bridle`.* TO `u`@`%`'],
  aheadMs: 12,
};
const DEMANDS: MysqlDemands = { largestBody: 32 * MIB, hasPendingMigrations: false };

const withVariables = (changes: Readonly<Record<string, string>>): Partial<MysqlFacts> => ({
  variables: { ...FACTS.variables, ...changes },
});

describe('judgeMysql', () => {
  it('is green, line by line, for a server that is as we need it', () => {
    expect(judgeMysql(FACTS, DEMANDS).map(({ name, isGood, isRisky }) => [name, isGood, isRisky])).toEqual(
      [
        'database',
        'charset',
        'session',
        'constraints',
        'tables',
        'keys',
        'packet',
        'writes',
        'privileges',
        'clock',
      ].map((name) => [name, true, undefined]),
    );
  });

  it.each<[string, Partial<MysqlFacts>, string]>([
    ['database', { version: '10.5.9-MariaDB' }, 'MariaDB 10.6.0 or newer'],
    ['charset', withVariables({ character_set_client: 'latin1' }), 'speaks latin1; allow SET NAMES'],
    ['charset', { schemaCharset: 'latin1' }, 'ALTER DATABASE bridle CHARACTER SET utf8mb4'],
    ['charset', { otherCollations: ['runs.id utf8mb4_general_ci'] }, 'not utf8mb4_bin: runs.id utf8mb4_general_ci'],
    ['session', withVariables({ transaction_isolation: 'REPEATABLE-READ' }), 'isolation is REPEATABLE-READ'],
    ['session', withVariables({ time_zone: 'SYSTEM' }), 'time zone is SYSTEM'],
    ['session', withVariables({ sql_mode: '' }), 'sql_mode is empty'],
    ['session', withVariables({ sql_mode: 'STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES' }), 'NO_BACKSLASH_ESCAPES'],
    ['constraints', withVariables({ check_constraint_checks: 'OFF' }), 'CHECKs are switched off'],
    ['constraints', { checks: CHECKS.slice(1) }, `CHECKs are missing: ${CHECKS[0]}`],
    ['tables', { otherEngines: ['runs MyISAM'] }, 'not InnoDB: runs MyISAM'],
    ['keys', withVariables({ innodb_page_size: '8192' }), 'innodb_page_size is 8192'],
    ['keys', withVariables({ innodb_default_row_format: 'compact' }), 'set it to dynamic'],
    ['packet', withVariables({ max_allowed_packet: '1048576' }), 'set max_allowed_packet to 40 MiB'],
    ['writes', withVariables({ read_only: 'ON' }), 'name the primary in database.url'],
    ['writes', withVariables({ binlog_format: 'STATEMENT' }), 'set it to ROW'],
    ['privileges', { grants: ['GRANT SELECT ON `bridle`.* TO `u`@`%`'] }, 'missing: INSERT, UPDATE, DELETE'],
    ['clock', { aheadMs: -61_000 }, 'is 61.0 s behind this machine'],
  ])('is red at %s for %j, and says what to do', (name, changes, words) => {
    const red = judgeMysql({ ...FACTS, ...changes }, DEMANDS).filter((check) => !check.isGood);
    expect(red).toEqual([{ name, isGood: false, text: expect.stringContaining(words) }]);
  });

  it.each<[string, Partial<MysqlFacts>, string]>([
    ['packet', withVariables({ max_allowed_packet: String(16 * MIB) }), 'is 16 MiB: larger texts are refused with 413'],
    ['clock', { aheadMs: 2500 }, 'is 2.5 s ahead of this machine'],
  ])('is yellow at %s for %j', (name, changes, words) => {
    const risky = judgeMysql({ ...FACTS, ...changes }, DEMANDS).filter((check) => check.isRisky || !check.isGood);
    expect(risky).toEqual([{ name, isGood: true, isRisky: true, text: expect.stringContaining(words) }]);
  });

  it('takes a statement format where nothing is logged, and misses no CHECK before the migrations made them', () => {
    const quiet = withVariables({ log_bin: 'OFF', binlog_format: 'STATEMENT' });
    const checks = judgeMysql({ ...FACTS, ...quiet, checks: [] }, { ...DEMANDS, hasPendingMigrations: true });
    expect(checks.filter((check) => !check.isGood)).toEqual([]);
  });
});
