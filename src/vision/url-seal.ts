import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

const VERSION = 1;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts a caller's URL, whose query may hold a signature, until the picture behind it is stored: whoever reads
 * the database without the key file learns nothing of it (AES-256-GCM).
 */
export class UrlSeal {
  private constructor(private readonly key: Buffer) {}

  /**
   * Takes the key from `<dir>/seal.key`, a file for the owner only, made at the first start.
   * @throws Error when that file does not hold a key
   */
  static async open(dir: string): Promise<UrlSeal> {
    const path = join(dir, 'seal.key');
    const key = (await readIfThere(path)) ?? (await createKey(dir, path));
    if (key.length !== KEY_BYTES) throw new Error(`${path} must hold ${KEY_BYTES} bytes, got ${key.length}`);
    return new UrlSeal(key);
  }

  /** @param place where the text will be kept; it opens with the same place only */
  seal(url: string, place: readonly string[]): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.key, nonce).setAAD(toBytes(place));
    const sealed = Buffer.concat([cipher.update(url, 'utf8'), cipher.final()]);
    return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), sealed]).toString('base64url');
  }

  /** @throws Error when the text was not sealed with this key for this place */
  unseal(text: string, place: readonly string[]): string {
    const bytes = Buffer.from(text, 'base64url');
    if (bytes[0] !== VERSION || bytes.length < 1 + NONCE_BYTES + TAG_BYTES) throw new Error('not a sealed URL');
    const nonce = bytes.subarray(1, 1 + NONCE_BYTES);
    const tag = bytes.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', this.key, nonce, { authTagLength: TAG_BYTES })
      .setAAD(toBytes(place))
      .setAuthTag(tag);
    const sealed = bytes.subarray(1 + NONCE_BYTES + TAG_BYTES);
    return Buffer.concat([decipher.update(sealed), decipher.final()]).toString('utf8');
  }
}

const toBytes = (place: readonly string[]): Buffer => Buffer.from(JSON.stringify(place), 'utf8');

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Whole or not at all, and once: of two processes that start together both get the key of the first. */
async function createKey(dir: string, path: string): Promise<Buffer> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomUUID()}`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(randomBytes(KEY_BYTES));
    await file.sync();
    await link(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await file.close();
    await rm(temporary, { force: true });
  }
  return readFile(path);
}
