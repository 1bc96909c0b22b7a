import { createHash } from 'node:crypto';
import type { ModelPicture } from '../harness/ports/chat-model.port.js';
import type { BlobStore } from '../storage/blob-store.port.js';
import { isAnimatedPng } from './containers/png.js';
import { loadSharp, type SharpFactory } from './sharp.js';

/** The facts of a stored picture that say whether a model can take it as it is. */
export interface PictureFacts {
  readonly sha256: string;
  readonly mimeType: string;
  readonly width: number;
  readonly height: number;
}

/** Bytes of scaled pictures that are kept ready: the turns of a run ask for the same pictures again and again. */
const KEPT_BYTES = 64 * 1024 * 1024;

/** Pictures as models take them: PNG, JPEG or WebP, still, no edge beyond the limit. */
export class ModelPictures {
  private readonly kept = new Map<string, Promise<ModelPicture>>();
  private readonly sizes = new Map<string, number>();
  private keptBytes = 0;

  /** @param maxEdge pixels; a longer edge is scaled down */
  constructor(
    private readonly blobs: BlobStore,
    private readonly maxEdge: number,
    private readonly maxKeptBytes = KEPT_BYTES,
  ) {}

  /** @throws AppError `RESOURCE_NOT_FOUND` when the picture was deleted */
  async load(facts: PictureFacts): Promise<ModelPicture> {
    const key = facts.sha256;
    const known = this.kept.get(key);
    if (known !== undefined) {
      this.kept.delete(key); // and in again, behind the others: the least recently asked goes first
      this.kept.set(key, known);
      return known;
    }
    const loading = this.make(facts);
    this.kept.set(key, loading);
    try {
      const picture = await loading;
      this.count(key, picture.bytes.length);
      return picture;
    } catch (error) {
      this.kept.delete(key);
      throw error;
    }
  }

  private count(key: string, bytes: number): void {
    this.sizes.set(key, bytes);
    this.keptBytes += bytes;
    for (const oldest of this.kept.keys()) {
      if (this.keptBytes <= this.maxKeptBytes) return;
      const size = this.sizes.get(oldest);
      if (size === undefined) continue; // still being made
      this.kept.delete(oldest);
      this.sizes.delete(oldest);
      this.keptBytes -= size;
    }
  }

  private async make(facts: PictureFacts): Promise<ModelPicture> {
    const stored = Buffer.from(await this.blobs.get(facts.sha256));
    const sharp = await loadSharp();
    const isScaled = Math.max(facts.width, facts.height) > this.maxEdge;
    if (!isScaled && (await isTakenAsItIs(sharp, facts.mimeType, stored))) return { ...facts, bytes: stored };
    const image = sharp(stored, { limitInputPixels: false }).resize(this.maxEdge, this.maxEdge, {
      fit: 'inside',
      withoutEnlargement: true,
    });
    const mimeType = await typeForModels(sharp, facts.mimeType, stored);
    const { data, info } = await image
      .toFormat(mimeType.replace('image/', '') as 'png' | 'jpeg' | 'webp', { quality: 90 })
      .toBuffer({ resolveWithObject: true });
    const sha256 = createHash('sha256').update(data).digest('hex');
    return { mimeType, bytes: data, sha256, width: info.width, height: info.height };
  }
}

async function isTakenAsItIs(sharp: SharpFactory, mimeType: string, bytes: Buffer): Promise<boolean> {
  if (mimeType === 'image/jpeg') return true;
  if (mimeType === 'image/png') return !isAnimatedPng(bytes);
  return mimeType === 'image/webp' && ((await sharp(bytes).metadata()).pages ?? 1) === 1;
}

/** GIF and AVIF become what every model reads: PNG keeps few colours and transparency exactly, JPEG is small. */
async function typeForModels(sharp: SharpFactory, mimeType: string, bytes: Buffer): Promise<string> {
  if (mimeType === 'image/gif') return 'image/png';
  if (mimeType !== 'image/avif') return mimeType;
  return (await sharp(bytes).metadata()).hasAlpha === true ? 'image/png' : 'image/jpeg';
}
