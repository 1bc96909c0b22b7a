import { createHash } from 'node:crypto';
import sharp from 'sharp';
import type { ModelPicture } from '../../../../src/harness/ports/chat-model.port.js';
import type { PicturePart } from '../../../../src/harness/models/offline/conversation.js';

/** The bytes as a model gets them. */
export async function modelPicture(bytes: Uint8Array): Promise<ModelPicture> {
  const { format, width, height } = await sharp(bytes).metadata();
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { mimeType: `image/${format}`, bytes, sha256, width, height };
}

/** The bytes as a part of a user's message. */
export async function picturePart(bytes: Uint8Array, index = 0): Promise<PicturePart> {
  const picture = await modelPicture(bytes);
  const { sha256, mimeType, width, height } = picture;
  return { kind: 'image', index, sha256, mimeType, width, height, load: () => Promise.resolve(picture) };
}

/** A picture made of vertical bands of colour; a width in pixels each. */
export async function bands(...columns: readonly (readonly [colour: string, width: number])[]): Promise<Buffer> {
  let left = 0;
  const shapes = columns.map(([colour, width]) => {
    left += width;
    return `<rect x="${left - width}" width="${width}" height="100" fill="${colour}"/>`;
  });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${left}" height="100">${shapes.join('')}</svg>`;
  return sharp(Buffer.from(svg)).png().toBuffer();
}
