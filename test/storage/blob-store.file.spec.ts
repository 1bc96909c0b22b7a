import { mkdtemp, readdir, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileBlobStore } from '../../src/storage/blob-store.file.js';
import { blobStoreContract } from '../contract/blob-store.contract.js';

// Not covered: that synced bytes survive a power failure.
describe('FileBlobStore', () => {
  let dir: string;

  beforeEach(async () => {
    dir = join(await mkdtemp(join(tmpdir(), 'blobs-')), 'data');
  });

  afterEach(async () => {
    await rm(join(dir, '..'), { recursive: true, force: true });
  });

  blobStoreContract(() => Promise.resolve(new FileBlobStore(dir)));

  it('keeps a blob at blobs/ab/cd/<sha256>, for the owner only, and leaves no other file', async () => {
    const key = await new FileBlobStore(dir).put(Buffer.from('picture'));
    const folder = join(dir, 'blobs', key.slice(0, 2), key.slice(2, 4));
    expect(await readdir(folder)).toEqual([key]);
    const modes = await Promise.all([dir, join(dir, 'blobs'), folder].map(async (path) => (await stat(path)).mode));
    expect(modes.map((mode) => mode & 0o777)).toEqual([0o700, 0o700, 0o700]);
    expect((await stat(join(folder, key))).mode & 0o777).toBe(0o600);
  });

  it('replaces a file that lost its end', async () => {
    const store = new FileBlobStore(dir);
    const key = await store.put(Buffer.from('picture'));
    await truncate(join(dir, 'blobs', key.slice(0, 2), key.slice(2, 4), key), 3);
    await store.put(Buffer.from('picture'));
    expect(Buffer.from(await store.get(key)).toString()).toBe('picture');
  });

  it('fails loudly when the folder cannot be made', async () => {
    await expect(new FileBlobStore('/dev/null/data').put(Buffer.from('picture'))).rejects.toMatchObject({
      code: 'ENOTDIR',
    });
  });
});
