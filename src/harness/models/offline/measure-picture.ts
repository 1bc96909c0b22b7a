import type { ModelPicture } from '../../ports/chat-model.port.js';
import { dominantColours, type ColourShare } from './dominant-colours.js';

/** What can be measured in a picture. Shares are 0–1. */
export interface PictureFacts {
  readonly colours: readonly ColourShare[];
  /** Mean luma of the visible area: 0 black, 1 white. */
  readonly brightness: number;
  /** Spread of the luma: 0 flat, about 0.5 black and white. */
  readonly contrast: number;
  /** Part of the area that lets something through. */
  readonly transparency: number;
  /** Strength of fine edges: below 1 blurred, above 3 crisp. */
  readonly sharpness: number;
}

/** Longest edge on which colours and light are measured, pixels: enough for shares, quick for any picture. */
const SAMPLE_EDGE = 200;
/** Longest edge on which edges are measured, so that a large picture is not called blurred for its size. */
const DETAIL_EDGE = 1024;

/**
 * Measures a picture.
 * @throws when the bytes are no picture, or when the package `sharp` is not installed
 */
export async function measurePicture(picture: ModelPicture): Promise<PictureFacts> {
  const { default: sharp } = await import('sharp');
  const within = (edge: number) => ({ width: edge, height: edge, fit: 'inside', withoutEnlargement: true }) as const;
  // `nearest` keeps true colours: averaging would invent some along every edge.
  const sample = await sharp(picture.bytes)
    .autoOrient()
    .toColourspace('srgb')
    .resize({ ...within(SAMPLE_EDGE), kernel: 'nearest' })
    .ensureAlpha()
    .raw()
    .toBuffer();
  const detail = await sharp(picture.bytes)
    .flatten({ background: '#ffffff' })
    .greyscale()
    .resize(within(DETAIL_EDGE))
    .png({ compressionLevel: 0 })
    .toBuffer();
  const { sharpness } = await sharp(detail).stats();
  return { colours: dominantColours(sample), ...lightOf(sample), sharpness };
}

function lightOf(pixels: Uint8Array): Pick<PictureFacts, 'brightness' | 'contrast' | 'transparency'> {
  let weight = 0;
  let sum = 0;
  let squares = 0;
  let through = 0;
  for (let at = 0; at + 3 < pixels.length; at += 4) {
    const [red = 0, green = 0, blue = 0, alpha = 0] = pixels.subarray(at, at + 4);
    const luma = (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
    weight += alpha;
    sum += luma * alpha;
    squares += luma * luma * alpha;
    if (alpha < 250) through += 1;
  }
  const brightness = weight === 0 ? 0 : sum / weight;
  const variance = weight === 0 ? 0 : squares / weight - brightness ** 2;
  return { brightness, contrast: Math.sqrt(Math.max(0, variance)), transparency: through / (pixels.length / 4) };
}
