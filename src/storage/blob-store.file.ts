import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '../common/app-error.js';
import { BlobStore } from './blob-store.port.js';

/** Blobs as files, `<dir>/blobs/ab/cd/<sha256>`; the directories are for the owner only (mode 0700). */
export class FileBlobStore extends BlobStore {
  private readonly root: string;

  /** @param dir `storage.dir`, made when it is not there */
  constructor(dir: string) {
    super();
    this.root = join(dir, 'blobs');
  }

  /** A reader never sees half a blob: the bytes are synced under another name before the file gets its own. */
  async put(bytes: Uint8Array): Promise<string> {
    const key = createHash('sha256').update(bytes).digest('hex');
    const path = this.pathOf(key);
    if (await hasSize(path, bytes.length)) return key;
    const folder = dirname(path);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const temporary = join(folder, `.${key}.${randomUUID()}`);
    try {
      await writeSynced(temporary, bytes);
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    await syncFolder(folder);
    return key;
  }

  async get(key: string): Promise<Uint8Array> {
    try {
      return await readFile(this.pathOf(key));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      throw new AppError('RESOURCE_NOT_FOUND', `no blob ${key} is stored`, { cause: error });
    }
  }

  async delete(key: string): Promise<void> {
    await rm(this.pathOf(key), { force: true });
  }

  private pathOf(key: string): string {
    if (!/^[0-9a-f]{64}$/.test(key)) throw new AppError('RESOURCE_NOT_FOUND', 'a blob key is 64 hexadecimal digits');
    return join(this.root, key.slice(0, 2), key.slice(2, 4), key);
  }
}

async function hasSize(path: string, size: number): Promise<boolean> {
  try {
    return (await stat(path)).size === size;
  } catch {
    return false;
  }
}

async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes the new name survive a power failure. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
