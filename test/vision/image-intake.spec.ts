// Not covered: a JPEG whose coded pixels stop early but end with a proper end mark; its missing rows are grey.
import sharp from 'sharp';
import { ImageIntake, type CheckedPicture } from '../../src/vision/image-intake.js';
import {
  animation,
  cornersOf,
  cornersPicture,
  pixelsOf,
  PLANTED,
  withOrientation,
  withSecrets,
  type CornerColour,
  type StillFormat,
} from '../support/pictures.js';

const FORMATS: readonly StillFormat[] = ['png', 'jpeg', 'webp', 'avif'];

/** Corners of the upright picture when the stored one is red, green / blue, white. */
const UPRIGHT: Readonly<Record<number, readonly CornerColour[]>> = {
  1: ['red', 'green', 'blue', 'white'],
  2: ['green', 'red', 'white', 'blue'],
  3: ['white', 'blue', 'green', 'red'],
  4: ['blue', 'white', 'red', 'green'],
  5: ['red', 'blue', 'green', 'white'],
  6: ['blue', 'red', 'white', 'green'],
  7: ['white', 'green', 'blue', 'red'],
  8: ['green', 'white', 'red', 'blue'],
};

const intake = new ImageIntake({ maxImageBytes: 10_485_760, maxPixels: 50_000_000 });
const check = (bytes: Uint8Array): Promise<CheckedPicture> => intake.check(bytes);

/** A GIF with a comment before its trailer. */
const withComment = (gif: Buffer): Buffer =>
  Buffer.concat([gif.subarray(0, -1), Buffer.from([0x21, 0xfe, PLANTED.length]), Buffer.from(`${PLANTED}\0;`)]);

describe('ImageIntake: upright pixels (C64)', () => {
  const cases = FORMATS.flatMap((format) => Object.keys(UPRIGHT).map((tag) => [format, Number(tag)] as const));

  it.each(cases)('%s with orientation %i', async (format, orientation) => {
    const picture = await check(await withOrientation(cornersPicture(), format, orientation));
    const facts = await sharp(picture.bytes).metadata();
    expect({
      corners: await cornersOf(picture.bytes),
      size: [picture.width, picture.height],
      stored: [facts.width, facts.height],
      tag: facts.orientation,
      exif: facts.exif,
    }).toEqual({
      corners: UPRIGHT[orientation],
      size: orientation < 5 ? [64, 32] : [32, 64],
      stored: orientation < 5 ? [64, 32] : [32, 64],
      tag: undefined,
      exif: undefined,
    });
  });
});

describe('ImageIntake: metadata', () => {
  it.each(FORMATS)('are gone from %s, its look stays', async (format) => {
    const given = await withSecrets(cornersPicture(), format);
    expect(given.includes(PLANTED)).toBe(true);
    const picture = await check(given);
    expect(Buffer.from(picture.bytes).includes(PLANTED)).toBe(false);
    const { exif, xmp, iptc } = await sharp(picture.bytes).metadata();
    expect([exif, xmp, iptc]).toEqual([undefined, undefined, undefined]);
    expect(await cornersOf(picture.bytes)).toEqual(UPRIGHT[1]);
    if (format !== 'avif') expect(Buffer.compare(await pixelsOf(picture.bytes), await pixelsOf(given))).toBe(0);
  });

  it('are cut out of animations, which keep every frame', async () => {
    const gif = await animation('gif');
    const webp = await sharp(gif, { animated: true })
      .webp({ lossless: true })
      .withExif({ IFD0: { Copyright: PLANTED } })
      .toBuffer();
    for (const given of [withComment(gif), webp]) {
      const { bytes } = await check(given);
      expect(given.includes(PLANTED)).toBe(true);
      expect(Buffer.from(bytes).includes(PLANTED)).toBe(false);
      const { pages, loop } = await sharp(bytes).metadata();
      expect({ pages, loop }).toEqual({ pages: 3, loop: 3 });
      expect(Buffer.compare(await pixelsOf(bytes), await pixelsOf(given))).toBe(0);
    }
  });

  it('include whatever hides behind the end of the file', async () => {
    for (const format of ['png', 'jpeg', 'webp'] as const) {
      const clean = await cornersPicture().toFormat(format).toBuffer();
      const { bytes } = await check(Buffer.concat([clean, Buffer.from(PLANTED)]));
      expect(Buffer.compare(bytes, clean)).toBe(0);
    }
    const clean = await animation('gif');
    expect(Buffer.compare((await check(Buffer.concat([clean, Buffer.from(PLANTED)]))).bytes, clean)).toBe(0);
  });
});

describe('ImageIntake: what is stored', () => {
  it.each(FORMATS)('%s with nothing to change is stored as it came', async (format) => {
    const given = await cornersPicture().toFormat(format).toBuffer();
    expect(await check(given)).toEqual({ bytes: given, mimeType: `image/${format}`, width: 64, height: 32 });
  });

  it.each(['gif', 'webp'] as const)('an animated %s is stored as it came', async (format) => {
    const given = await animation(format);
    expect(await check(given)).toEqual({ bytes: given, mimeType: `image/${format}`, width: 16, height: 16 });
  });

  it('an sRGB profile changes nothing, another one is converted', async () => {
    const green = sharp({ create: { width: 8, height: 8, channels: 3, background: { r: 0, g: 255, b: 0 } } });
    const srgb = await green.clone().png().withIccProfile('srgb').toBuffer();
    expect(Buffer.compare((await check(srgb)).bytes, srgb)).toBe(0);
    const p3 = await green.clone().png().withIccProfile('p3').toBuffer();
    const { bytes } = await check(p3);
    expect((await sharp(bytes).metadata()).icc).toBeUndefined();
    const [red = 0, shown = 0, blue = 0] = await sharp(bytes).raw().toBuffer();
    expect(red).toBeLessThan(12);
    expect(shown).toBeGreaterThan(243);
    expect(blue).toBeLessThan(12);
  });

  it('CMYK becomes sRGB', async () => {
    const given = await cornersPicture().toColourspace('cmyk').jpeg().toBuffer();
    expect((await sharp(given).metadata()).space).toBe('cmyk');
    const { bytes } = await check(given);
    expect((await sharp(bytes).metadata()).space).toBe('srgb');
  });

  it('takes a view into a larger buffer for what it is', async () => {
    const given = await cornersPicture().png().toBuffer();
    const larger = new Uint8Array(given.length + 200);
    larger.set(given, 100);
    const { bytes } = await check(larger.subarray(100, 100 + given.length));
    expect(Buffer.compare(bytes, given)).toBe(0);
  });
});

describe('ImageIntake: refusals (C65)', () => {
  const refusal = async (bytes: Uint8Array): Promise<{ reason: string; message: string }> => {
    const error: unknown = await check(bytes).catch((reason: unknown) => reason);
    if (!(error instanceof Error)) throw new Error('it was accepted');
    return { reason: (error as Error & { reason: string }).reason, message: error.message };
  };
  const accepted = 'accepted are image/png, image/jpeg, image/webp, image/gif and image/avif';

  it.each([
    ['', 'nothing'],
    ['<svg xmlns="http://www.w3.org/2000/svg"><rect/></svg>', 'image/svg+xml'],
    ['<?xml version="1.0"?>\n<!-- drawing -->\n<svg/>', 'image/svg+xml'],
    ['%PDF-1.7\n1 0 obj\n', 'application/pdf'],
    ['<!DOCTYPE html><html><body>404</body></html>', 'text/html'],
    ['Not found\n', 'text/plain'],
    ['II*\0\x08\0\0\0', 'image/tiff'],
    [`BM${'\0'.repeat(60)}`, 'image/bmp'],
    ['\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'image/heic'],
    ['\x01\x02\x03\x04\x05\x06', 'unknown data'],
  ])('%j is found to be %s', async (text, found) => {
    expect(await refusal(Buffer.from(text, 'latin1'))).toEqual({
      reason: 'IMAGE_UNREADABLE',
      message: `not an accepted picture: found ${found}; ${accepted}`,
    });
  });

  it('refuses a file that was cut anywhere', async () => {
    const whole = [
      ...(await Promise.all(FORMATS.map((format) => cornersPicture().toFormat(format).toBuffer()))),
      await animation('gif'),
    ];
    const accepted: string[] = [];
    for (const bytes of whole) {
      for (let length = 12; length < bytes.length; length += Math.max(1, Math.floor(bytes.length / 40))) {
        const { reason } = await refusal(bytes.subarray(0, length)).catch(() => ({ reason: 'none' }));
        if (reason !== 'IMAGE_UNREADABLE') accepted.push(`${length} of ${bytes.length}`);
      }
      expect((await refusal(bytes.subarray(0, -1))).message).toMatch(/is cut off or damaged$/);
    }
    expect(accepted).toEqual([]);
  });

  it.each(['png', 'avif'] as const)('refuses a %s whose coded pixels are broken', async (format) => {
    const broken = await cornersPicture().toFormat(format).toBuffer();
    broken.fill(0xaa, Math.floor(broken.length * 0.7), Math.floor(broken.length * 0.9));
    expect((await refusal(broken)).message).toBe(`the image/${format} picture is cut off or damaged`);
  });

  it('refuses bytes that only begin like a picture, and keeps the library to itself', async () => {
    for (const head of [
      '\x89PNG\r\n\x1a\n',
      '\xff\xd8\xff\xe0',
      'RIFF\x20\0\0\0WEBP',
      'GIF89a',
      '\0\0\0\x14ftypavif\0\0\0\0avif',
    ]) {
      const { reason, message } = await refusal(Buffer.from(`${head}${'\0x'.repeat(40)}`, 'latin1'));
      expect(reason).toBe('IMAGE_UNREADABLE');
      expect(message).not.toMatch(/vips|libpng|Input buffer/i);
    }
  });

  it('stops a pixel bomb before it is decoded', async () => {
    const bomb = await sharp({
      create: { width: 12_000, height: 12_000, channels: 3, background: 'red' },
      limitInputPixels: false,
    })
      .png()
      .toBuffer();
    expect(await refusal(bomb)).toEqual({
      reason: 'IMAGE_TOO_LARGE',
      message: 'a picture has at most 50000000 pixels, got 12000 x 12000',
    });
  });

  it('looks at the number of bytes first', async () => {
    const small = new ImageIntake({ maxImageBytes: 100, maxPixels: 50_000_000 });
    await expect(small.check(Buffer.alloc(101))).rejects.toMatchObject({
      reason: 'IMAGE_TOO_LARGE',
      message: 'a picture has at most 100 bytes, got 101 bytes',
    });
  });
});
