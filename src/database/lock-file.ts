import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';

/** The SQLite file belongs to another living process. */
export class FileInUseError extends Error {
  constructor(path: string, pid: number) {
    super(
      `the SQLite file ${path} is in use by process ${pid}; stop that process, or use mysql:// to run several processes`,
    );
    this.name = 'FileInUseError';
  }
}

/**
 * One process per SQLite file: a lock file beside it names the pid. A lock whose process is gone is taken over.
 * @returns releases the lock
 * @throws FileInUseError when another living process holds it
 */
export function takeLockFile(databasePath: string): () => void {
  const path = `${databasePath}.lock`;
  for (let attempt = 0; attempt < 3; attempt += 1) {
    try {
      const file = openSync(path, 'wx', 0o600);
      writeSync(file, String(process.pid));
      closeSync(file);
      return () => {
        rmSync(path, { force: true });
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const pid = ownerOf(path);
      if (pid !== undefined && isAlive(pid)) throw new FileInUseError(databasePath, pid);
      rmSync(path, { force: true });
    }
  }
  throw new Error(`the lock file ${path} cannot be taken`);
}

function ownerOf(path: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(path, 'utf8'), 10);
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  if (pid === process.pid) return false; // a leftover of an earlier process that had our number
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
