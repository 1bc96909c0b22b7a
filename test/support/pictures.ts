import sharp, { type Sharp } from 'sharp';

export type StillFormat = 'png' | 'jpeg' | 'webp' | 'avif';

/** A text that stands in every kind of metadata of `withSecrets`; no stored byte may show it. */
export const PLANTED = 'PLANTED-LOCATION';

const CORNERS = { red: [255, 0, 0], green: [0, 255, 0], blue: [0, 0, 255], white: [255, 255, 255] } as const;
export type CornerColour = keyof typeof CORNERS;

/** 64 x 32 pixels: red and green above, blue and white below. */
export function cornersPicture(): Sharp {
  const [width, height] = [64, 32];
  const pixels = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const colour = y < height / 2 ? (x < width / 2 ? 'red' : 'green') : x < width / 2 ? 'blue' : 'white';
      pixels.set(CORNERS[colour], (y * width + x) * 3);
    }
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } });
}

/** The colours of the corners: top left, top right, bottom left, bottom right. */
export async function cornersOf(bytes: Uint8Array): Promise<CornerColour[]> {
  const { data, info } = await sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const colourAt = (x: number, y: number): CornerColour => {
    const at = (Math.floor(y * info.height) * info.width + Math.floor(x * info.width)) * info.channels;
    const pixel = [...data.subarray(at, at + 3)].map((value) => (value > 127 ? 255 : 0));
    const found = Object.entries(CORNERS).find(([, colour]) => colour.every((value, band) => value === pixel[band]));
    if (found === undefined) throw new Error(`no corner has the colour ${pixel.join()}`);
    return found[0] as CornerColour;
  };
  return [colourAt(0.25, 0.25), colourAt(0.75, 0.25), colourAt(0.25, 0.75), colourAt(0.75, 0.75)];
}

/** The picture with an Exif orientation tag, its pixels stored as they are. */
export function withOrientation(picture: Sharp, format: StillFormat, orientation: number): Promise<Buffer> {
  return picture.toFormat(format).withMetadata({ orientation }).toBuffer();
}

/** The picture with Exif (GPS position included) and XMP that hold the planted text. */
export function withSecrets(picture: Sharp, format: StillFormat): Promise<Buffer> {
  return picture
    .toFormat(format)
    .withExif({ IFD0: { Copyright: PLANTED }, IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 3230/100' } })
    .withXmp(`<x:xmpmeta xmlns:x="adobe:ns:meta/"><note>${PLANTED}</note></x:xmpmeta>`)
    .toBuffer();
}

/** Three frames of 16 x 16: red, green, blue. */
export function animation(format: 'gif' | 'webp'): Promise<Buffer> {
  const frames = (['red', 'green', 'blue'] as const).map((colour) =>
    Buffer.concat(Array.from({ length: 256 }, () => Buffer.from(CORNERS[colour]))),
  );
  return sharp(Buffer.concat(frames), { raw: { width: 16, height: 48, channels: 3, pageHeight: 16 } })
    .toFormat(format, { delay: [100, 100, 100], loop: 3 })
    .toBuffer();
}

export const pixelsOf = (bytes: Uint8Array): Promise<Buffer> => sharp(bytes, { animated: true }).raw().toBuffer();
