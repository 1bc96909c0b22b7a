import { createHash, randomBytes } from 'node:crypto';
import type { BlobStore } from '../../src/storage/blob-store.port.js';

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** What every blob store does. `open` gives a new, empty one. */
export function blobStoreContract(open: () => Promise<BlobStore>): void {
  let store: BlobStore;

  beforeEach(async () => {
    store = await open();
  });

  it.each([0, 1, 1000, 3_000_000])('gives %i bytes back under their SHA-256', async (length) => {
    const bytes = randomBytes(length);
    const key = await store.put(bytes);
    expect(key).toBe(sha256(bytes));
    expect(Buffer.compare(await store.get(key), bytes)).toBe(0);
  });

  it('stores the same bytes again without a change', async () => {
    const key = await store.put(Buffer.from('picture'));
    expect(await store.put(Buffer.from('picture'))).toBe(key);
    expect(Buffer.from(await store.get(key)).toString()).toBe('picture');
  });

  it('stands many puts of the same bytes at once, each answered when the blob can be read', async () => {
    const bytes = randomBytes(200_000);
    const read = await Promise.all(
      Array.from({ length: 20 }, async () => Buffer.compare(await store.get(await store.put(bytes)), bytes)),
    );
    expect(read).toEqual(Array.from({ length: 20 }, () => 0));
  });

  it('forgets a deleted blob and minds no second deletion', async () => {
    const kept = await store.put(Buffer.from('kept'));
    const key = await store.put(Buffer.from('picture'));
    await store.delete(key);
    await store.delete(key);
    await expect(store.get(key)).rejects.toMatchObject({ reason: 'RESOURCE_NOT_FOUND' });
    expect(Buffer.from(await store.get(kept)).toString()).toBe('kept');
    expect(await store.put(Buffer.from('picture'))).toBe(key);
    expect(Buffer.from(await store.get(key)).toString()).toBe('picture');
  });

  it.each(['', '../../etc/passwd', 'ABCDEF', `${'a'.repeat(63)}/`, 'a'.repeat(65), `${'a'.repeat(64)}\n`])(
    'knows no key %j',
    async (key) => {
      await expect(store.get(key)).rejects.toMatchObject({ reason: 'RESOURCE_NOT_FOUND' });
      await expect(store.delete(key)).rejects.toMatchObject({ reason: 'RESOURCE_NOT_FOUND' });
    },
  );
}
