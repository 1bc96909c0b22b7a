import { readdir, readFile, rm, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { SystemClock } from '../../src/common/clock.js';
import { Database } from '../../src/database/database.js';
import type { ImagePart, ImageUrlPart } from '../../src/events/parts.js';
import { OutgoingFetch } from '../../src/outgoing/guarded-fetch.js';
import { FileBlobStore } from '../../src/storage/blob-store.file.js';
import { BlobKeeper } from '../../src/vision/blob-keeper.js';
import { ImageIntake } from '../../src/vision/image-intake.js';
import { ModelPictures } from '../../src/vision/model-pictures.js';
import { PicturesService } from '../../src/vision/pictures.service.js';
import type { PictureInput } from '../../src/vision/pictures.types.js';
import { UrlSeal } from '../../src/vision/url-seal.js';
import { databasesUnderTest, type TestDatabase } from '../support/databases.js';
import { startLoopbackServer, type LoopbackServer } from '../support/loopback-server.js';
import { cornersOf, cornersPicture, PLANTED, withOrientation, withSecrets } from '../support/pictures.js';
import { aConfig } from '../support/test-config.js';

const NEVER = new AbortController().signal;
const S1 = { id: 'session-1', tenantId: 'tenant-1' };
const S2 = { id: 'session-2', tenantId: 'tenant-2' };

describe.each(databasesUnderTest())('PicturesService on $name', (kind) => {
  let dir: string;
  let test: TestDatabase;
  let database: Database;
  let server: LoopbackServer;
  let outgoing: OutgoingFetch;
  let pictures: PicturesService;
  let served: Buffer | undefined;

  const open = async (holdMs?: number): Promise<PicturesService> => {
    const config = aConfig({ BRIDLE_STORAGE_DIR: dir, BRIDLE_VISION_MODEL_MAX_EDGE: '40' });
    const blobs = new FileBlobStore(dir);
    outgoing = new OutgoingFetch({ ...config.fetch, allowPrivateHosts: [`127.0.0.1:${server.port}`], timeoutMs: 2000 });
    return new PicturesService(
      database,
      config,
      new SystemClock(),
      outgoing,
      new ImageIntake(config.vision),
      new BlobKeeper(database, blobs, holdMs),
      new ModelPictures(blobs, config.vision.modelMaxEdge),
      await UrlSeal.open(dir),
    );
  };

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'pictures-'));
    test = await kind.create();
    database = await Database.open({ url: test.url, synchronous: 'normal', poolSize: 4 }, new SystemClock());
    served = await cornersPicture().png().toBuffer();
    server = await startLoopbackServer((request, response) => {
      if (served === undefined) response.writeHead(403).end('expired');
      else response.writeHead(200, { 'content-type': 'text/plain' }).end(served);
    });
    pictures = await open();
  });

  afterEach(async () => {
    await outgoing.close();
    await server.close();
    await database.close();
    await test.drop();
    await rm(dir, { recursive: true, force: true });
  });

  const attach = async (
    inputs: readonly PictureInput[],
    session = S1,
  ): Promise<readonly (ImagePart | ImageUrlPart)[]> => {
    const prepared = await pictures.prepare(inputs);
    return database.inTransaction((manager) => pictures.attach(manager, session, prepared));
  };
  const attachUrl = async (path: string, resourceId = 'linked'): Promise<ImageUrlPart> => {
    const [part] = await attach([{ kind: 'url', resourceId, url: `${server.url}${path}` }]);
    if (part?.kind !== 'image_url') throw new Error(`expected a URL part, got ${part?.kind}`);
    return part;
  };
  const blobFiles = async (): Promise<string[]> =>
    (await readdir(join(dir, 'blobs'), { recursive: true }).catch(() => [])).filter((name) =>
      /[0-9a-f]{64}$/.test(name),
    );
  const png = (width: number): Promise<Buffer> => cornersPicture().resize(width, 32).png().toBuffer();

  it('takes bytes in, upright and clean, and hands them to a model scaled', async () => {
    const turned = await withOrientation(cornersPicture(), 'jpeg', 6);
    const parts = await attach([
      { kind: 'bytes', bytes: turned },
      { kind: 'bytes', resourceId: 'cover', bytes: await withSecrets(cornersPicture(), 'png') },
    ]);
    expect(parts).toEqual([
      expect.objectContaining({
        kind: 'image',
        index: 0,
        resourceId: 'img-1',
        mimeType: 'image/jpeg',
        width: 32,
        height: 64,
      }),
      expect.objectContaining({
        kind: 'image',
        index: 1,
        resourceId: 'cover',
        mimeType: 'image/png',
        width: 64,
        height: 32,
      }),
    ]);
    const model = await pictures.load(parts[0] as ImagePart);
    expect([model.width, model.height]).toEqual([20, 40]);
    expect(await cornersOf(model.bytes)).toEqual(['blue', 'red', 'white', 'green']);
    for (const file of await blobFiles())
      expect((await readFile(join(dir, 'blobs', file))).includes(PLANTED)).toBe(false);
  });

  it('uses a stored picture again by its id', async () => {
    const [first] = await attach([{ kind: 'bytes', resourceId: 'cover', bytes: await png(64) }]);
    const [second] = await attach([{ kind: 'stored', resourceId: 'cover' }]);
    expect(second).toEqual(first);
    await expect(attach([{ kind: 'stored', resourceId: 'cover' }], S2)).rejects.toMatchObject({
      reason: 'RESOURCE_NOT_FOUND',
    });
  });

  it.each<[string, PictureInput, string, string]>([
    ['a file URL', { kind: 'url', url: 'file:///etc/passwd' }, 'RESOURCE_INVALID', 'picture 1: a URL begins with'],
    ['a bucket', { kind: 'url', url: 'gs://b/x' }, 'RESOURCE_INVALID', 'got gs:'],
    ['a user name', { kind: 'url', url: 'http://u:p@host/' }, 'RESOURCE_INVALID', 'no user name'],
    ['a blank id', { kind: 'url', resourceId: ' a', url: 'https://a.example/' }, 'ID_INVALID', 'white space'],
    ['an endless id', { kind: 'stored', resourceId: 'a'.repeat(257) }, 'ID_INVALID', 'at most 256'],
    ['a PDF', { kind: 'bytes', bytes: Buffer.from('%PDF-1.7\n') }, 'IMAGE_UNREADABLE', 'picture 1: not an accepted'],
  ])('refuses %s before anything is written, and says which picture', async (_what, input, reason, message) => {
    const prepared = pictures.prepare([{ kind: 'bytes', bytes: await png(64) }, input]);
    await expect(prepared).rejects.toMatchObject({ reason, details: { index: 1 } });
    await expect(prepared).rejects.toThrow(message);
    expect(await database.query('SELECT * FROM resources')).toEqual([]);
  });

  it('refuses an eleventh picture', async () => {
    const inputs = Array.from({ length: 11 }, (): PictureInput => ({ kind: 'url', url: 'https://a.example/' }));
    await expect(pictures.prepare(inputs)).rejects.toMatchObject({
      reason: 'RESOURCE_INVALID',
      message: 'a message takes at most 10 pictures, got 11',
    });
    expect(await pictures.prepare(inputs.slice(1))).toHaveLength(10);
  });

  describe('a URL', () => {
    it('is fetched once, by its signed form, and never again (P20)', async () => {
      const part = await attachUrl('/a.png?sig=PLANTED-SIGNATURE');
      const image = await pictures.fetch(S1, { ...part, displayName: 'a.png' }, NEVER);
      served = undefined;
      expect(image).toMatchObject({
        kind: 'image',
        index: 0,
        resourceId: 'linked',
        mimeType: 'image/png',
        displayName: 'a.png',
      });
      const again = await pictures.fetch(S1, part, NEVER);
      const [later] = await attach([{ kind: 'stored', resourceId: 'linked' }]);
      expect([again.sha256, (later as ImagePart).sha256]).toEqual([image.sha256, image.sha256]);
      expect(server.requests.map((request) => request.url)).toEqual(['/a.png?sig=PLANTED-SIGNATURE']);
    });

    it('leaves no trace of its query in any row, before and after (R12)', async () => {
      const part = await attachUrl('/a.png?sig=PLANTED-SIGNATURE');
      const rows = async (): Promise<string> => JSON.stringify(await database.query('SELECT * FROM resources'));
      expect(await rows()).not.toContain('PLANTED-SIGNATURE');
      await pictures.fetch(S1, part, NEVER);
      expect(await rows()).not.toContain('PLANTED-SIGNATURE');
      expect(await database.query('SELECT source_url, sealed_url FROM resources')).toEqual([
        { source_url: `${server.url}/a.png`, sealed_url: null },
      ]);
    });

    it('is fetched after a restart, with the newest signature', async () => {
      await attachUrl('/a.png?sig=1');
      const part = await attachUrl('/a.png?sig=2');
      await outgoing.close();
      pictures = await open();
      await pictures.fetch(S1, part, NEVER);
      expect(server.requests.map((request) => request.url)).toEqual(['/a.png?sig=2']);
    });

    it('that does not answer is IMAGE_UNREACHABLE, and may be tried again', async () => {
      served = undefined;
      const part = await attachUrl('/a.png?sig=PLANTED-SIGNATURE');
      const failure = pictures.fetch(S1, part, NEVER);
      await expect(failure).rejects.toMatchObject({
        reason: 'IMAGE_UNREACHABLE',
        message: 'picture linked: the URL could not be fetched; it must be public and answer in time',
      });
      served = await png(64);
      expect((await pictures.fetch(S1, part, NEVER)).width).toBe(64);
    });

    it('of a private host is IMAGE_UNREACHABLE with the very same words', async () => {
      const [part] = await attach([{ kind: 'url', resourceId: 'linked', url: 'http://169.254.169.254/latest' }]);
      await expect(pictures.fetch(S1, part as ImageUrlPart, NEVER)).rejects.toMatchObject({
        reason: 'IMAGE_UNREACHABLE',
        message: 'picture linked: the URL could not be fetched; it must be public and answer in time',
      });
    });

    it('is judged by its bytes, not by its header', async () => {
      served = Buffer.from('<html>no picture</html>');
      await expect(pictures.fetch(S1, await attachUrl('/a.png'), NEVER)).rejects.toMatchObject({
        reason: 'IMAGE_UNREADABLE',
        message: expect.stringContaining('picture linked: not an accepted picture: found text/html'),
      });
      served = Buffer.alloc(10_485_761);
      await expect(pictures.fetch(S1, await attachUrl('/b.png', 'large'), NEVER)).rejects.toMatchObject({
        reason: 'IMAGE_TOO_LARGE',
      });
      expect(await blobFiles()).toEqual([]);
    });

    it('stops with the run', async () => {
      const controller = new AbortController();
      const failure = pictures.fetch(S1, await attachUrl('/a.png'), controller.signal);
      controller.abort(new Error('run cancelled'));
      await expect(failure).rejects.toThrow('run cancelled');
    });
  });

  describe('an upload', () => {
    it('is stored once, and once more said to be there', async () => {
      const bytes = await png(64);
      const first = await pictures.upload(S1, 'cover', bytes);
      expect(first).toEqual({
        created: true,
        resource: {
          resourceId: 'cover',
          kind: 'upload',
          sourceUrl: null,
          createdAt: expect.any(Number),
          picture: {
            sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
            mimeType: 'image/png',
            width: 64,
            height: 32,
            bytes: bytes.length,
          },
        },
      });
      expect(await pictures.upload(S1, 'cover', bytes)).toEqual({ ...first, created: false });
      expect(await pictures.resourcesOf(S1, ['none', 'cover'])).toEqual([first.resource]);
      expect(await pictures.resourcesOf(S2, ['cover'])).toEqual([]);
    });

    it('of other bytes under the same id is a conflict, though the pixels be the same', async () => {
      await pictures.upload(S1, 'cover', await withSecrets(cornersPicture(), 'png'));
      await expect(pictures.upload(S1, 'cover', await png(64))).rejects.toMatchObject({ reason: 'RESOURCE_CONFLICT' });
      expect((await pictures.upload(S2, 'cover', await png(64))).created).toBe(true);
    });

    it('of ten at once makes one', async () => {
      const bytes = await png(64);
      const made = await Promise.all(Array.from({ length: 10 }, () => pictures.upload(S1, 'cover', bytes)));
      expect(made.filter(({ created }) => created)).toHaveLength(1);
    });

    it('with a bad id is refused', async () => {
      await expect(pictures.upload(S1, 'a\u0000b', await png(64))).rejects.toMatchObject({ reason: 'ID_INVALID' });
    });
  });

  describe('deleting a session', () => {
    it('removes its rows and the blobs that no other session has', async () => {
      const [shared, own] = await Promise.all([png(64), png(48)]);
      await attach([
        { kind: 'bytes', bytes: shared },
        { kind: 'bytes', bytes: own },
      ]);
      const [kept] = await attach([{ kind: 'bytes', bytes: shared }], S2);
      expect(await blobFiles()).toHaveLength(2);
      await pictures.deleteOf(S1);
      expect(await blobFiles()).toEqual([expect.stringContaining((kept as ImagePart).sha256)]);
      expect(await pictures.resourcesOf(S2, ['img-1'])).toHaveLength(1);
      await pictures.deleteOf(S2);
      expect(await blobFiles()).toEqual([]);
      expect(await database.query('SELECT * FROM resources')).toEqual([]);
    });

    it('keeps a blob that a message is just about to name', async () => {
      const bytes = await png(64);
      await attach([{ kind: 'bytes', bytes }]);
      const prepared = await pictures.prepare([{ kind: 'bytes', bytes }]);
      await pictures.deleteOf(S1);
      const [part] = await database.inTransaction((manager) => pictures.attach(manager, S2, prepared));
      expect((await pictures.load(part as ImagePart)).bytes.length).toBeGreaterThan(0);
    });

    it('races with messages of the same bytes and loses none of them', async () => {
      const bytes = await png(64);
      const rounds = process.env['BRIDLE_TEST_FULL'] === undefined ? 10 : 100;
      for (let round = 0; round < rounds; round += 1) {
        await attach([{ kind: 'bytes', bytes }]);
        const [parts] = await Promise.all([attach([{ kind: 'bytes', bytes }], S2), pictures.deleteOf(S1)]);
        const stored = await new FileBlobStore(dir).get((parts[0] as ImagePart).sha256);
        expect(Buffer.compare(stored, bytes)).toBe(0);
        await pictures.deleteOf(S2);
        expect(await blobFiles()).toEqual([]);
      }
    });
  });

  it('removes what a refused message left behind', async () => {
    await outgoing.close();
    pictures = await open(20);
    const prepared = await pictures.prepare([{ kind: 'bytes', bytes: await png(64) }]);
    await expect(
      database.inTransaction(async (manager) => {
        await pictures.attach(manager, S1, prepared);
        throw new Error('the queue is full');
      }),
    ).rejects.toThrow('the queue is full');
    for (let tries = 0; (await blobFiles()).length > 0; tries += 1) {
      if (tries > 500) throw new Error('the blob is still there');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  });

  it('keeps what an accepted message holds, beyond the time of the hold', async () => {
    await outgoing.close();
    pictures = await open(20);
    const [part] = await attach([{ kind: 'bytes', bytes: await png(64) }]);
    await new Promise((resolve) => setTimeout(resolve, 60));
    await database.inTransaction((manager) => manager.query('SELECT 1')); // behind the check of the hold
    expect((await sharp((await pictures.load(part as ImagePart)).bytes).metadata()).format).toBe('png');
    expect(await blobFiles()).toHaveLength(1);
  });
});
