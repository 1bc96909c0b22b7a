import { createHash } from 'node:crypto';
import sharp from 'sharp';
import { BlobStore } from '../../src/storage/blob-store.port.js';
import { ModelPictures, type PictureFacts } from '../../src/vision/model-pictures.js';
import { animation, cornersOf, cornersPicture } from '../support/pictures.js';

class MemoryBlobs extends BlobStore {
  readonly blobs = new Map<string, Uint8Array>();
  reads = 0;

  put(bytes: Uint8Array): Promise<string> {
    const key = createHash('sha256').update(bytes).digest('hex');
    this.blobs.set(key, bytes);
    return Promise.resolve(key);
  }

  get(key: string): Promise<Uint8Array> {
    this.reads += 1;
    const found = this.blobs.get(key);
    return found === undefined ? Promise.reject(new Error('no such blob')) : Promise.resolve(found);
  }

  delete(key: string): Promise<void> {
    this.blobs.delete(key);
    return Promise.resolve();
  }
}

describe('ModelPictures', () => {
  let blobs: MemoryBlobs;

  beforeEach(() => {
    blobs = new MemoryBlobs();
  });

  async function stored(bytes: Buffer, mimeType: string): Promise<PictureFacts> {
    const { width, height } = await sharp(bytes).metadata();
    return { sha256: await blobs.put(bytes), mimeType, width, height };
  }

  it.each(['png', 'jpeg', 'webp'] as const)('gives a %s within the limit as it is stored', async (format) => {
    const bytes = await cornersPicture().toFormat(format).toBuffer();
    const facts = await stored(bytes, `image/${format}`);
    expect(await new ModelPictures(blobs, 2048).load(facts)).toEqual({ ...facts, bytes });
  });

  it('scales longer edges down and names the bytes that it gives', async () => {
    const facts = await stored(await cornersPicture().resize(400, 200).png().toBuffer(), 'image/png');
    const picture = await new ModelPictures(blobs, 100).load(facts);
    const { format, width, height } = await sharp(picture.bytes).metadata();
    expect({ ...picture, bytes: undefined, format, real: [width, height] }).toEqual({
      mimeType: 'image/png',
      sha256: createHash('sha256').update(picture.bytes).digest('hex'),
      width: 100,
      height: 50,
      bytes: undefined,
      format: 'png',
      real: [100, 50],
    });
    expect(await cornersOf(picture.bytes)).toEqual(['red', 'green', 'blue', 'white']);
  });

  it.each(['gif', 'webp'] as const)('gives the first frame of an animated %s', async (format) => {
    const facts = await stored(await animation(format), `image/${format}`);
    const picture = await new ModelPictures(blobs, 2048).load(facts);
    expect(picture.mimeType).toBe(format === 'gif' ? 'image/png' : 'image/webp');
    expect((await sharp(picture.bytes).metadata()).pages ?? 1).toBe(1);
    expect(await cornersOf(picture.bytes)).toEqual(['red', 'red', 'red', 'red']);
  });

  it('gives an AVIF as JPEG, with transparency as PNG', async () => {
    const opaque = await stored(await cornersPicture().avif().toBuffer(), 'image/avif');
    const clear = await stored(await cornersPicture().ensureAlpha(0.5).avif().toBuffer(), 'image/avif');
    const pictures = new ModelPictures(blobs, 2048);
    const types = await Promise.all(
      [opaque, clear].map(async (facts) => {
        const { bytes, mimeType } = await pictures.load(facts);
        return [mimeType, (await sharp(bytes).metadata()).format];
      }),
    );
    expect(types).toEqual([
      ['image/jpeg', 'jpeg'],
      ['image/png', 'png'],
    ]);
  });

  it('reads a picture once for many askers, and again when it fell out of its memory', async () => {
    const facts = await Promise.all(
      [8, 9, 10].map(async (size) =>
        stored(await cornersPicture().resize(size, size).png({ compressionLevel: 0 }).toBuffer(), 'image/png'),
      ),
    );
    const [first, second, third] = facts as [PictureFacts, PictureFacts, PictureFacts];
    const room = (blobs.blobs.get(second.sha256)?.length ?? 0) + (blobs.blobs.get(third.sha256)?.length ?? 0);
    const pictures = new ModelPictures(blobs, 2048, room);
    await Promise.all([first, first, second, first].map((one) => pictures.load(one)));
    expect(blobs.reads).toBe(2);
    await pictures.load(first); // asked last: `second` is the next to go
    await pictures.load(third);
    expect(blobs.reads).toBe(3);
    await pictures.load(first);
    expect(blobs.reads).toBe(3);
    await pictures.load(second);
    expect(blobs.reads).toBe(4);
  });

  it('forgets a failure', async () => {
    const bytes = await cornersPicture().png().toBuffer();
    const facts = await stored(bytes, 'image/png');
    await blobs.delete(facts.sha256);
    const pictures = new ModelPictures(blobs, 2048);
    await expect(pictures.load(facts)).rejects.toThrow('no such blob');
    await blobs.put(bytes);
    expect((await pictures.load(facts)).width).toBe(64);
  });
});
