import { DamagedPictureError, KeptBytes } from './kept-bytes.js';

const SIGNATURE_LENGTH = 8;
const CHUNK_OVERHEAD = 12;

/** Chunks that may be missing but decide how the pixels look: transparency, colour, size, animation. */
const KEPT_ANCILLARY: ReadonlySet<string> = new Set(
  'tRNS gAMA cHRM sRGB iCCP cICP mDCV cLLI sBIT bKGD hIST pHYs sPLT acTL fcTL fdAT'.split(' '),
);

/**
 * The PNG without metadata and without whatever follows its end; pixels and animation stay as they are.
 * @throws DamagedPictureError when the end is missing
 */
export function stripPng(bytes: Buffer): Buffer {
  const kept = new KeptBytes(bytes);
  kept.keep(0, SIGNATURE_LENGTH);
  for (const { type, start, end } of chunksOf(bytes)) {
    if (isCritical(type) || KEPT_ANCILLARY.has(type)) kept.keep(start, end);
    if (type === 'IEND') return kept.toBuffer();
  }
  throw new DamagedPictureError('PNG without an end');
}

/** True for a PNG that moves: it announces its frames before the first picture. */
export function isAnimatedPng(bytes: Buffer): boolean {
  for (const { type } of chunksOf(bytes)) {
    if (type === 'acTL') return true;
    if (type === 'IDAT') return false;
  }
  return false;
}

const isCritical = (type: string): boolean => /^[A-Z]/.test(type);

function* chunksOf(bytes: Buffer): Generator<{ type: string; start: number; end: number }> {
  let start = SIGNATURE_LENGTH;
  while (start + CHUNK_OVERHEAD <= bytes.length) {
    const end = start + CHUNK_OVERHEAD + bytes.readUInt32BE(start);
    if (end > bytes.length) return;
    yield { type: bytes.toString('latin1', start + 4, start + 8), start, end };
    start = end;
  }
}
