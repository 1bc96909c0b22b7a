import type { Metadata, Sharp } from 'sharp';
import { AppError } from '../common/app-error.js';
import { stripGif } from './containers/gif.js';
import { stripJpeg } from './containers/jpeg.js';
import { stripPng } from './containers/png.js';
import { stripWebp } from './containers/webp.js';
import { isSrgbProfile } from './colour-profile.js';
import { nameOfType, PICTURE_TYPES, pictureTypeOf, type PictureType } from './picture-type.js';
import { loadSharp, type SharpFactory } from './sharp.js';

/** What is refused before it is decoded. */
export interface IntakeLimits {
  readonly maxImageBytes: number;
  /** Width times height of one picture, before anything is decoded. */
  readonly maxPixels: number;
}

/** A picture as it may be stored: upright, sRGB, whole, without metadata. */
export interface CheckedPicture {
  readonly bytes: Uint8Array;
  readonly mimeType: PictureType;
  readonly width: number;
  readonly height: number;
}

const ACCEPTED = `${PICTURE_TYPES.slice(0, -1).join(', ')} and ${PICTURE_TYPES.at(-1)}`;

/** Decides what of a caller's bytes is a picture, and makes it fit to be stored and shown to a model. */
export class ImageIntake {
  constructor(private readonly limits: IntakeLimits) {}

  /**
   * Checks a picture whole, by its bytes alone. Metadata are cut out of the file without touching pixels or
   * animation; only a picture that lies on its side or is not sRGB is drawn anew (of an animation, its first frame).
   * With nothing to change the answer holds the very bytes that came.
   * @throws AppError `IMAGE_TOO_LARGE` beyond the limits, `IMAGE_UNREADABLE` for other types and damaged files
   */
  async check(bytes: Uint8Array): Promise<CheckedPicture> {
    const { maxImageBytes } = this.limits;
    if (bytes.length > maxImageBytes) throw tooLarge(`at most ${maxImageBytes} bytes`, `${bytes.length} bytes`);
    const given = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const mimeType = pictureTypeOf(given);
    if (mimeType === undefined) throw await notAPicture(given);
    const sharp = await loadSharp();
    try {
      return await this.checkAs(sharp, mimeType, given);
    } catch (error) {
      throw error instanceof AppError ? error : damaged(mimeType, error);
    }
  }

  private async checkAs(sharp: SharpFactory, mimeType: PictureType, given: Buffer): Promise<CheckedPicture> {
    const facts = await sharp(given, { limitInputPixels: false }).metadata();
    this.checkPixels(facts);
    const stripped = strip(mimeType, given);
    const image = sharp(given, { limitInputPixels: this.limits.maxPixels, failOn: 'error' });
    if (mustBeRedrawn(mimeType, facts)) return redraw(image, mimeType, facts);
    await decodeWhole(image);
    return { bytes: stripped, mimeType, width: facts.width, height: facts.height };
  }

  private checkPixels({ width, height }: Metadata): void {
    if (width * height > this.limits.maxPixels) {
      throw tooLarge(`at most ${this.limits.maxPixels} pixels`, `${width} x ${height}`);
    }
  }
}

function strip(mimeType: PictureType, bytes: Buffer): Buffer {
  switch (mimeType) {
    case 'image/png':
      return stripPng(bytes);
    case 'image/jpeg':
      return stripJpeg(bytes);
    case 'image/webp':
      return stripWebp(bytes);
    case 'image/gif':
      return stripGif(bytes);
    case 'image/avif':
      return bytes; // its metadata are entangled with its index: such a file is drawn anew
  }
}

function mustBeRedrawn(mimeType: PictureType, facts: Metadata): boolean {
  if ((facts.orientation ?? 1) !== 1 || facts.space === 'cmyk') return true;
  if (facts.icc !== undefined && !isSrgbProfile(facts.icc)) return true;
  return mimeType === 'image/avif' && (facts.exif ?? facts.xmp ?? facts.iptc) !== undefined;
}

/** The pixels upright and in sRGB, in the same format. */
async function redraw(image: Sharp, mimeType: PictureType, facts: Metadata): Promise<CheckedPicture> {
  const { data, info } = await encode(image.autoOrient().toColourspace('srgb'), mimeType, facts).toBuffer({
    resolveWithObject: true,
  });
  return { bytes: data, mimeType, width: info.width, height: info.height };
}

function encode(image: Sharp, mimeType: PictureType, facts: Metadata): Sharp {
  switch (mimeType) {
    case 'image/png':
      return image.png();
    case 'image/jpeg':
      return image.jpeg({ quality: 95, chromaSubsampling: facts.chromaSubsampling === '4:2:0' ? '4:2:0' : '4:4:4' });
    case 'image/webp':
      return image.webp({ quality: 95, smartSubsample: true });
    case 'image/gif':
      return image.gif();
    case 'image/avif':
      return image.avif({ quality: 75, effort: 0 }); // more effort takes seconds for a few bytes
  }
}

/** Reads every line of the picture, in little memory, so that a cut file is found out now and not in a run. */
async function decodeWhole(image: Sharp): Promise<void> {
  await image.resize(64, 64, { fit: 'fill', kernel: 'cubic' }).raw().toBuffer();
}

function tooLarge(limit: string, found: string): AppError {
  return new AppError('IMAGE_TOO_LARGE', `a picture has ${limit}, got ${found}`);
}

async function notAPicture(bytes: Buffer): Promise<AppError> {
  const found = await nameOfType(bytes);
  return new AppError('IMAGE_UNREADABLE', `not an accepted picture: found ${found}; accepted are ${ACCEPTED}`, {
    details: { found, accepted: PICTURE_TYPES },
  });
}

function damaged(found: PictureType, cause: unknown): AppError {
  return new AppError('IMAGE_UNREADABLE', `the ${found} picture is cut off or damaged`, {
    details: { found, accepted: PICTURE_TYPES },
    cause,
  });
}
