import { DamagedPictureError, KeptBytes } from './kept-bytes.js';

const RIFF_HEADER_LENGTH = 12;
const CHUNK_HEADER_LENGTH = 8;
const KEPT_CHUNKS: ReadonlySet<string> = new Set(['VP8 ', 'VP8L', 'VP8X', 'ALPH', 'ANIM', 'ANMF', 'ICCP']);
/** Bits of VP8X that announce Exif and XMP chunks. */
const METADATA_FLAGS = 0x08 | 0x04;

/**
 * The WebP without metadata and without whatever follows its end; pixels and animation stay as they are.
 * @throws DamagedPictureError when the end is missing
 */
export function stripWebp(bytes: Buffer): Buffer {
  const end = bytes.length < RIFF_HEADER_LENGTH ? Infinity : 8 + bytes.readUInt32LE(4);
  if (end > bytes.length) throw new DamagedPictureError('WebP without an end');
  const kept = new KeptBytes(bytes);
  kept.keep(0, RIFF_HEADER_LENGTH);
  let at = RIFF_HEADER_LENGTH;
  while (at + CHUNK_HEADER_LENGTH <= end) {
    const type = bytes.toString('latin1', at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    const next = at + CHUNK_HEADER_LENGTH + size + (size % 2);
    if (next > end) throw new DamagedPictureError('WebP chunk without an end');
    if (type === 'VP8X') keepFeatures(kept, bytes, at, next);
    else if (KEPT_CHUNKS.has(type)) kept.keep(at, next);
    at = next;
  }
  return withSize(kept.toBuffer(), bytes);
}

function keepFeatures(kept: KeptBytes, bytes: Buffer, start: number, end: number): void {
  const flags = bytes[start + CHUNK_HEADER_LENGTH] ?? 0;
  if ((flags & METADATA_FLAGS) === 0) {
    kept.keep(start, end);
    return;
  }
  const chunk = Buffer.from(bytes.subarray(start, end));
  chunk[CHUNK_HEADER_LENGTH] = flags & ~METADATA_FLAGS;
  kept.replace(chunk);
}

function withSize(stripped: Buffer, original: Buffer): Buffer {
  if (stripped !== original) stripped.writeUInt32LE(stripped.length - 8, 4);
  return stripped;
}
