import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UrlSeal } from '../../src/vision/url-seal.js';

const URL_WITH_SIGNATURE = 'https://cdn.example.com/封面.png?X-Signature=planted-secret';
const PLACE = ['session-1', 'img-1'];

describe('UrlSeal', () => {
  let dir: string;

  beforeEach(async () => {
    dir = join(await mkdtemp(join(tmpdir(), 'seal-')), 'data');
  });

  afterEach(async () => {
    await rm(join(dir, '..'), { recursive: true, force: true });
  });

  it('gives the URL back after a restart, and shows nothing of it meanwhile', async () => {
    const sealed = (await UrlSeal.open(dir)).seal(URL_WITH_SIGNATURE, PLACE);
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toMatch(/secret|cdn/);
    expect((await UrlSeal.open(dir)).unseal(sealed, PLACE)).toBe(URL_WITH_SIGNATURE);
  });

  it('seals the same URL differently each time', async () => {
    const seal = await UrlSeal.open(dir);
    expect(seal.seal(URL_WITH_SIGNATURE, PLACE)).not.toBe(seal.seal(URL_WITH_SIGNATURE, PLACE));
  });

  it('opens nothing that was moved, changed, cut or sealed with another key', async () => {
    const seal = await UrlSeal.open(dir);
    const sealed = seal.seal(URL_WITH_SIGNATURE, PLACE);
    const changed = Buffer.from(sealed, 'base64url');
    changed[40] = (changed[40] ?? 0) ^ 1;
    expect(() => seal.unseal(sealed, ['session-2', 'img-1'])).toThrow();
    expect(() => seal.unseal(changed.toString('base64url'), PLACE)).toThrow();
    expect(() => seal.unseal(sealed.slice(0, 20), PLACE)).toThrow('not a sealed URL');
    const other = await UrlSeal.open(join(dir, 'other'));
    expect(() => other.unseal(sealed, PLACE)).toThrow();
  });

  it('makes one key when many open at once, for the owner only', async () => {
    const seals = await Promise.all(Array.from({ length: 8 }, () => UrlSeal.open(dir)));
    const sealed = seals[0]?.seal('u', PLACE) ?? '';
    expect(seals.map((seal) => seal.unseal(sealed, PLACE))).toEqual(Array.from({ length: 8 }, () => 'u'));
    expect(await readdir(dir)).toEqual(['seal.key']);
    expect((await stat(join(dir, 'seal.key'))).mode & 0o777).toBe(0o600);
  });

  it('refuses a key file that holds no key', async () => {
    await UrlSeal.open(dir);
    await writeFile(join(dir, 'seal.key'), 'short');
    await expect(UrlSeal.open(dir)).rejects.toThrow('must hold 32 bytes, got 5');
  });
});
