import { DamagedPictureError, KeptBytes } from './kept-bytes.js';

const SOI_LENGTH = 2;
const END_OF_IMAGE = 0xd9;
const START_OF_SCAN = 0xda;
const COMMENT = 0xfe;

/** Application segments that decide how the pixels look; all others (Exif, XMP, IPTC, makers' own) describe them. */
const KEPT_APPLICATION_SEGMENTS: Readonly<Record<number, string>> = {
  0xe0: 'JFIF\0',
  0xe2: 'ICC_PROFILE\0',
  0xee: 'Adobe',
};

/**
 * The JPEG without metadata and without whatever follows its end; the coded pixels stay as they are.
 * @throws DamagedPictureError when the end is missing
 */
export function stripJpeg(bytes: Buffer): Buffer {
  const kept = new KeptBytes(bytes);
  kept.keep(0, SOI_LENGTH);
  let at = SOI_LENGTH;
  for (;;) {
    const start = bytes.indexOf(0xff, at);
    let end = start < 0 ? bytes.length : start + 1;
    while (bytes[end] === 0xff) end += 1; // fill bytes
    const marker = bytes[end];
    if (marker === undefined) throw new DamagedPictureError('JPEG without an end');
    end += 1;
    if (marker === END_OF_IMAGE) {
      kept.keep(start, end);
      return kept.toBuffer();
    }
    if (!isStandalone(marker)) {
      const body = end;
      end = endOfSegment(bytes, body);
      if (isMetadata(marker, bytes.subarray(body + 2, end))) {
        at = end;
        continue;
      }
      if (marker === START_OF_SCAN) end = endOfScan(bytes, end);
    }
    kept.keep(start, end);
    at = end;
  }
}

const isRestart = (marker: number): boolean => marker >= 0xd0 && marker <= 0xd7;
const isStandalone = (marker: number): boolean => isRestart(marker) || marker === 0x01 || marker === 0;

function isMetadata(marker: number, body: Buffer): boolean {
  if (marker === COMMENT) return true;
  if (marker < 0xe0 || marker > 0xef) return false;
  const name = KEPT_APPLICATION_SEGMENTS[marker];
  return name === undefined || body.toString('latin1', 0, name.length) !== name;
}

function endOfSegment(bytes: Buffer, at: number): number {
  const length = at + 2 <= bytes.length ? bytes.readUInt16BE(at) : 0;
  if (length < 2 || at + length > bytes.length) throw new DamagedPictureError('JPEG segment without an end');
  return at + length;
}

/** The coded data end at the next marker that is neither a stuffed 0xff nor a restart. */
function endOfScan(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1];
    if (next !== undefined && next !== 0 && next !== 0xff && !isRestart(next)) return at;
  }
  throw new DamagedPictureError('JPEG scan without an end');
}
