import { fileTypeFromBuffer } from 'file-type';

/** The media types that intake accepts. */
export type PictureType = 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif' | 'image/avif';

/** What intake accepts, in the order in which messages name it. */
export const PICTURE_TYPES: readonly PictureType[] = [
  'image/png',
  'image/jpeg',
  'image/webp',
  'image/gif',
  'image/avif',
];

const PNG_SIGNATURE = '\x89PNG\r\n\x1a\n';
/** As many bytes as the look for a name reads; a file's type stands at its beginning. */
const HEAD_LENGTH = 4100;

/** The accepted type that the first bytes announce, whatever name or header came with them. */
export function pictureTypeOf(bytes: Buffer): PictureType | undefined {
  const head = bytes.toString('latin1', 0, 12);
  if (head.startsWith(PNG_SIGNATURE)) return 'image/png';
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (head.startsWith('RIFF') && head.endsWith('WEBP')) return 'image/webp';
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'image/gif';
  return isAvif(bytes) ? 'image/avif' : undefined;
}

/** What other bytes are, for a message: a media type, `nothing` or `unknown data`. */
export async function nameOfType(bytes: Buffer): Promise<string> {
  if (bytes.length === 0) return 'nothing';
  const text = bytes
    .toString('latin1', 0, HEAD_LENGTH)
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart();
  if (/^(<\?xml[^>]*>\s*)?(<!--[\s\S]*?-->\s*)*(<!DOCTYPE svg[^>]*>\s*)?<svg[\s>/]/i.test(text)) return 'image/svg+xml';
  if (/^(<!--[\s\S]*?-->\s*)*<(!doctype html|html|head|body)[\s>]/i.test(text)) return 'text/html';
  if (/^(II\*\0|MM\0\*)/.test(text)) return 'image/tiff'; // its index stands anywhere, often at the end
  const found = await fileTypeFromBuffer(bytes.subarray(0, HEAD_LENGTH)).catch(() => undefined);
  if (found !== undefined) return found.mime;
  return isText(bytes.subarray(0, HEAD_LENGTH)) ? 'text/plain' : 'unknown data';
}

/** An `ftyp` box whose main or compatible brands name AVIF; HEIC, its sibling, has others. */
function isAvif(bytes: Buffer): boolean {
  if (bytes.toString('latin1', 4, 8) !== 'ftyp') return false;
  const brands = bytes.toString('latin1', 8, Math.min(bytes.readUInt32BE(0), 128)).match(/.{4}/gs) ?? [];
  return brands.some((brand, index) => index !== 1 && (brand === 'avif' || brand === 'avis'));
}

const isText = (bytes: Buffer): boolean => !/[\x00-\x08\x0e-\x1f]/.test(bytes.toString('latin1'));
