import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '../../src/common/clock.js';
import { checkDatabase, checkMachine, checkVersion } from '../../src/boot/start-up-checks.js';
import { Database } from '../../src/database/database.js';
import { aConfig } from '../support/test-config.js';

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

describe('checkMachine', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'bridle-checks-'));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const checks = (variables: Record<string, string>) =>
    Object.fromEntries(checkMachine(aConfig(variables)).map((check) => [check.name, check]));

  it('is green on a machine that has everything, and makes the folder', () => {
    const dir = join(folder, 'new');
    const found = checks({ BRIDLE_STORAGE_DIR: dir });
    expect(Object.values(found).map((check) => check.isGood)).toEqual([true, true, true, true]);
    expect(Object.keys(found)).toEqual(['node', 'storage', 'better-sqlite3', 'sharp']);
    expect(existsSync(dir)).toBe(true);
  });

  it('asks for the driver of the database that is named', () => {
    const found = checks({ BRIDLE_STORAGE_DIR: folder, DATABASE_URL: 'mysql://u:p@db/bridle' });
    expect(found['mysql2']).toMatchObject({ isGood: true });
    expect(found['better-sqlite3']).toBeUndefined();
  });

  it('says which key to set when the folder cannot be used', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    chmodSync(file, 0o400);
    const { storage } = checks({ BRIDLE_STORAGE_DIR: join(file, 'below') });
    expect(storage).toMatchObject({ isGood: false });
    expect(storage!.text).toContain('set storage.dir (BRIDLE_STORAGE_DIR)');
  });
});

describe('checkDatabase', () => {
  it('says what SQLite is there, and that memory does not last', async () => {
    const database = await Database.open(
      { url: 'sqlite::memory:', synchronous: 'normal', poolSize: 1 },
      new SystemClock(),
    );
    const checks = await checkDatabase(database);
    await database.close();
    expect(checks).toEqual([
      {
        name: 'database',
        isGood: true,
        text: expect.stringMatching(/^SQLite 3\.\d+\.\d+, in memory: runs do not survive a restart$/),
      },
    ]);
  });
});
