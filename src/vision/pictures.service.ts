import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AppError } from '../common/app-error.js';
import { Clock } from '../common/clock.js';
import { checkId } from '../common/id-rules.js';
import { Config } from '../config/config.js';
import { isDuplicateKey } from '../database/database-errors.js';
import { Database } from '../database/database.js';
import type { ImagePart, ImageUrlPart } from '../events/parts.js';
import type { ModelPicture } from '../harness/ports/chat-model.port.js';
import { OutgoingFetch } from '../outgoing/guarded-fetch.js';
import { planAttachments, resourceConflict } from './attachment-plan.js';
import { BlobKeeper, type HeldBlob } from './blob-keeper.js';
import { ImageIntake } from './image-intake.js';
import { ModelPictures, type PictureFacts } from './model-pictures.js';
import { atPicture, checkInput, toFetchError } from './picture-rules.js';
import type { PictureInput, PictureOwner, PreparedPicture, StoredPicture, StoredResource } from './pictures.types.js';
import {
  deleteResources,
  insertResources,
  inside,
  outside,
  readResource,
  readResources,
  updateFetched,
  updateSealedUrl,
  type ResourceRow,
} from './resource-rows.js';
import { UrlSeal } from './url-seal.js';

export type { PreparedPicture } from './pictures.types.js';

/** The pictures of sessions: taken in, stored once, handed to models, deleted with their session. */
@Injectable()
export class PicturesService {
  constructor(
    private readonly database: Database,
    private readonly config: Config,
    private readonly clock: Clock,
    private readonly outgoing: OutgoingFetch,
    private readonly intake: ImageIntake,
    private readonly keeper: BlobKeeper,
    private readonly modelPictures: ModelPictures,
    private readonly seal: UrlSeal,
  ) {}

  /**
   * Checks the pictures of a message and stores those that came as bytes; a URL is only looked at. Touches no rows.
   * @throws AppError `RESOURCE_INVALID`, `ID_INVALID`, `IMAGE_UNREADABLE`, `IMAGE_TOO_LARGE`, with `details.index`
   */
  async prepare(inputs: readonly PictureInput[]): Promise<readonly PreparedPicture[]> {
    const { maxImagesPerMessage } = this.config.vision;
    if (inputs.length > maxImagesPerMessage) {
      const problem = `a message takes at most ${maxImagesPerMessage} pictures, got ${inputs.length}`;
      throw new AppError('RESOURCE_INVALID', problem);
    }
    // what costs nothing is checked for all before the first picture is decoded
    const checked = inputs.map(checkInput);
    const prepared: PreparedPicture[] = [];
    for (const [index, input] of checked.entries()) {
      prepared.push(input.kind === 'bytes' ? await this.prepareBytes(input, index) : input);
    }
    return prepared;
  }

  /**
   * Gives prepared pictures to a session, inside the transaction of their message. Parts come in the order of the
   * pictures; a URL that was fetched before is the stored picture.
   * @throws AppError `RESOURCE_NOT_FOUND`, `RESOURCE_CONFLICT`
   */
  async attach(
    manager: EntityManager,
    session: PictureOwner,
    prepared: readonly PreparedPicture[],
  ): Promise<readonly (ImagePart | ImageUrlPart)[]> {
    if (prepared.length === 0) return [];
    const plan = planAttachments({
      stored: await readResources(inside(manager), session),
      prepared,
      seal: (url, resourceId) => this.seal.seal(url.href, [session.id, resourceId]),
      nowMs: this.clock.nowMs(),
    });
    await insertResources(manager, session, plan.inserts);
    for (const { resourceId, sealedUrl } of plan.resealed) {
      await updateSealedUrl(manager, session, resourceId, sealedUrl);
    }
    for (const picture of prepared) if (picture.kind === 'bytes') picture.settle();
    return plan.parts;
  }

  /**
   * The picture behind a URL of the session: fetched and stored now, or taken from what was stored before.
   * @throws AppError `IMAGE_UNREACHABLE`, `IMAGE_UNREADABLE`, `IMAGE_TOO_LARGE`; the signal's reason when that aborts
   */
  async fetch(session: PictureOwner, part: ImageUrlPart, signal: AbortSignal): Promise<ImagePart> {
    const row = await readResource(outside(this.database), session, part.resourceId);
    if (row === undefined) throw AppError.notFound('resource', part.resourceId);
    const picture = row.picture ?? (await this.fetchAndStore(session, row, signal));
    const { displayName } = part;
    return {
      kind: 'image',
      index: part.index,
      resourceId: part.resourceId,
      ...picture,
      ...(displayName === undefined ? {} : { displayName }),
    };
  }

  /**
   * Stores a picture under an id of the session.
   * @returns `created: false` when the id already holds these very bytes
   * @throws AppError `ID_INVALID`, `IMAGE_UNREADABLE`, `IMAGE_TOO_LARGE`, `RESOURCE_CONFLICT`
   */
  async upload(
    session: PictureOwner,
    resourceId: string,
    bytes: Uint8Array,
  ): Promise<{ readonly resource: StoredResource; readonly created: boolean }> {
    checkId('resource', 'resource_id', resourceId);
    const { sourceSha256, picture, settle } = await this.takeIn(bytes);
    const row: ResourceRow = {
      resourceId,
      kind: 'upload',
      sourceUrl: null,
      sealedUrl: null,
      sourceSha256,
      picture,
      createdAt: this.clock.nowMs(),
    };
    return this.once(async (manager) => {
      const known = await readResource(inside(manager), session, resourceId);
      if (known !== undefined && known.sourceSha256 !== sourceSha256) throw resourceConflict(resourceId);
      if (known === undefined) await insertResources(manager, session, [row]);
      settle();
      return { resource: toResource(known ?? row), created: known === undefined };
    });
  }

  /** The picture as models take it: still, PNG, JPEG or WebP, no edge beyond `vision.modelMaxEdge`. */
  load(image: PictureFacts): Promise<ModelPicture> {
    return this.modelPictures.load(image);
  }

  /** Those of the named pictures that the session has, in the order of the ids. */
  async resourcesOf(session: PictureOwner, resourceIds: readonly string[]): Promise<readonly StoredResource[]> {
    if (resourceIds.length === 0) return [];
    const rows = new Map((await readResources(outside(this.database), session)).map((row) => [row.resourceId, row]));
    return resourceIds.flatMap((resourceId) => {
      const row = rows.get(resourceId);
      return row === undefined ? [] : [toResource(row)];
    });
  }

  /** Removes the session's pictures, and their bytes where no other session has the same. */
  async deleteOf(session: PictureOwner): Promise<void> {
    const keys = await this.database.inTransaction((manager) => deleteResources(manager, session));
    await this.keeper.deleteUnused(keys);
  }

  private async prepareBytes(
    { resourceId, bytes }: Extract<PictureInput, { kind: 'bytes' }>,
    index: number,
  ): Promise<PreparedPicture> {
    try {
      return { kind: 'bytes', resourceId, ...(await this.takeIn(bytes)) };
    } catch (error) {
      throw atPicture(index, error);
    }
  }

  private async fetchAndStore(session: PictureOwner, row: ResourceRow, signal: AbortSignal): Promise<StoredPicture> {
    if (row.sealedUrl === null) throw AppError.notFound('resource', row.resourceId);
    const url = this.seal.unseal(row.sealedUrl, [session.id, row.resourceId]);
    const { maxImageBytes } = this.config.vision;
    try {
      const bytes = await this.outgoing.fetchBytes(url, { maxBytes: maxImageBytes }, signal);
      const { sourceSha256, picture, settle } = await this.takeIn(bytes);
      signal.throwIfAborted();
      await this.database.inTransaction(async (manager) => {
        await updateFetched(manager, session, row.resourceId, sourceSha256, picture);
        settle();
      });
      return picture;
    } catch (error) {
      throw toFetchError(error, row.resourceId);
    }
  }

  private async takeIn(
    bytes: Uint8Array,
  ): Promise<{ sourceSha256: string; picture: StoredPicture; settle: HeldBlob['settle'] }> {
    const checked = await this.intake.check(bytes);
    const { key, settle } = await this.keeper.store(checked.bytes);
    return {
      sourceSha256: createHash('sha256').update(bytes).digest('hex'),
      picture: {
        sha256: key,
        mimeType: checked.mimeType,
        width: checked.width,
        height: checked.height,
        bytes: checked.bytes.length,
      },
      settle,
    };
  }

  /** Repeats a transaction that lost the race for a key: the second time it finds the winner's row. */
  private async once<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    try {
      return await this.database.inTransaction(work);
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return this.database.inTransaction(work);
    }
  }
}

const toResource = ({ resourceId, kind, sourceUrl, picture, createdAt }: ResourceRow): StoredResource => ({
  resourceId,
  kind,
  sourceUrl,
  picture,
  createdAt,
});
