import { DamagedPictureError, KeptBytes } from './kept-bytes.js';

const HEADER_LENGTH = 13;
const IMAGE = 0x2c;
const EXTENSION = 0x21;
const TRAILER = 0x3b;
const GRAPHIC_CONTROL = 0xf9;
const PLAIN_TEXT = 0x01;
const APPLICATION = 0xff;
/** The applications whose blocks say how often the animation repeats. */
const LOOP_APPLICATIONS: ReadonlySet<string> = new Set(['NETSCAPE2.0', 'ANIMEXTS1.0']);

/**
 * The GIF without comments, XMP and other applications' blocks, and without whatever follows its end; pixels and
 * animation stay as they are.
 * @throws DamagedPictureError when the end is missing
 */
export function stripGif(bytes: Buffer): Buffer {
  const kept = new KeptBytes(bytes);
  let at = HEADER_LENGTH + colourTableLength(bytes, 10);
  kept.keep(0, at);
  for (;;) {
    const start = at;
    switch (bytes[at]) {
      case TRAILER:
        kept.keep(start, start + 1);
        return kept.toBuffer();
      case IMAGE:
        // descriptor, local colours, one byte of code size, data
        at = endOfSubBlocks(bytes, at + 10 + colourTableLength(bytes, at + 9) + 1);
        kept.keep(start, at);
        break;
      case EXTENSION:
        at = endOfSubBlocks(bytes, at + 2);
        if (isKeptExtension(bytes, start)) kept.keep(start, at);
        break;
      default:
        throw new DamagedPictureError('GIF without an end');
    }
  }
}

/** Bytes of the colour table that the flags at this place announce. */
function colourTableLength(bytes: Buffer, flagsAt: number): number {
  const flags = bytes[flagsAt] ?? 0;
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 0x07) + 1);
}

function isKeptExtension(bytes: Buffer, start: number): boolean {
  const label = bytes[start + 1];
  if (label === GRAPHIC_CONTROL || label === PLAIN_TEXT) return true;
  return label === APPLICATION && LOOP_APPLICATIONS.has(bytes.toString('latin1', start + 3, start + 14));
}

function endOfSubBlocks(bytes: Buffer, from: number): number {
  for (let at = from; ;) {
    const length = bytes[at];
    if (length === undefined) throw new DamagedPictureError('GIF block without an end');
    at += 1 + length;
    if (length === 0) return at;
  }
}
