import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileInUseError, takeLockFile } from '../../src/database/lock-file.js';

describe('takeLockFile', () => {
  let folder: string;
  let database: string;
  let lock: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'bridle-lock-'));
    database = join(folder, 'a.sqlite');
    lock = `${database}.lock`;
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  it('names this process in the file, and takes it away when it is released', () => {
    const release = takeLockFile(database);
    expect(readFileSync(lock, 'utf8')).toBe(String(process.pid));
    release();
    release();
    expect(existsSync(lock)).toBe(false);
  });

  it('refuses a file of another living process, and says which one', () => {
    writeFileSync(lock, String(process.ppid));
    const attempt = (): unknown => takeLockFile(database);
    expect(attempt).toThrow(FileInUseError);
    expect(attempt).toThrow(`in use by process ${process.ppid}`);
    expect(readFileSync(lock, 'utf8')).toBe(String(process.ppid));
  });

  it.each([
    ['of a process that is gone', () => String(spawnSync('true').pid)],
    ['of an earlier process with our own number', () => String(process.pid)],
    ['that is empty', () => ''],
    ['that holds no number', () => 'nobody'],
  ])('takes over a file %s', (_what, content) => {
    writeFileSync(lock, content());
    takeLockFile(database)();
    expect(existsSync(lock)).toBe(false);
  });

  it('says when the file cannot be made', () => {
    expect(() => takeLockFile(join(folder, 'missing', 'a.sqlite'))).toThrow(/ENOENT/);
  });
});
