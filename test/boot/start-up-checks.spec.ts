import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '../../src/common/clock.js';
import { checkDatabase, checkMachine } from '../../src/boot/start-up-checks.js';
import { Database } from '../../src/database/database.js';
import { aConfig } from '../support/test-config.js';

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
  it('says what SQLite is there, that memory does not last, and what is to migrate', async () => {
    const clock = new SystemClock();
    const location = { url: 'sqlite::memory:', synchronous: 'normal', poolSize: 1 } as const;
    const database = await Database.connect(location, clock);
    const before = await checkDatabase(database, aConfig({}), clock);
    await database.migrate();
    const after = await checkDatabase(database, aConfig({}), clock);
    await database.close();
    const version = expect.stringMatching(/^SQLite 3\.\d+\.\d+, in memory: runs do not survive a restart$/);
    expect(before).toEqual([
      { name: 'database', isGood: true, text: version },
      { name: 'schema', isGood: true, text: expect.stringMatching(/^migrations to do: \d+$/) },
    ]);
    expect(after[1]).toEqual({ name: 'schema', isGood: true, text: 'up to date' });
  });
});
