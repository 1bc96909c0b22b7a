import { AppError } from '../common/app-error.js';
import type { ImagePart, ImageUrlPart } from '../events/parts.js';
import { withoutQuery } from '../outgoing/checked-url.js';
import type { PreparedPicture } from './pictures.types.js';
import type { ResourceRow } from './resource-rows.js';

/** What attaching pictures to a message does to the rows of its session. */
export interface AttachmentPlan {
  readonly parts: readonly (ImagePart | ImageUrlPart)[];
  readonly inserts: readonly ResourceRow[];
  /** Newer URLs of pictures that are known and not fetched yet. */
  readonly resealed: readonly { readonly resourceId: string; readonly sealedUrl: string }[];
}

/** What a plan is made from; `stored` are the rows of the session. */
export interface PlanInput {
  readonly stored: readonly ResourceRow[];
  readonly prepared: readonly PreparedPicture[];
  readonly seal: (url: URL, resourceId: string) => string;
  readonly nowMs: number;
}

/**
 * Gives each picture its row: a known id must mean the same picture, a missing one becomes `img-<index+1>`, with
 * `-2`, `-3` … when the session has it already. Pure.
 * @throws AppError `RESOURCE_NOT_FOUND`, `RESOURCE_CONFLICT`
 */
export function planAttachments({ stored, prepared, seal, nowMs }: PlanInput): AttachmentPlan {
  const rows = new Map(stored.map((row) => [row.resourceId, row]));
  const named = new Set(prepared.flatMap((picture) => picture.resourceId ?? []));
  const inserts: ResourceRow[] = [];
  const resealed: { resourceId: string; sealedUrl: string }[] = [];
  const parts = prepared.map((picture, index) => {
    const resourceId = picture.resourceId ?? freeId(index, (id) => rows.has(id) || named.has(id));
    const known = rows.get(resourceId);
    if (known !== undefined) {
      checkSame(picture, known);
      if (picture.kind === 'url' && known.picture === null) {
        resealed.push({ resourceId, sealedUrl: seal(picture.url, resourceId) });
      }
      return toPart(known, index);
    }
    const row = newRow(picture, resourceId, seal, nowMs);
    rows.set(resourceId, row);
    inserts.push(row);
    return toPart(row, index);
  });
  return { parts, inserts, resealed };
}

/** The part of a message that stands for the row's picture. */
function toPart(row: ResourceRow, index: number): ImagePart | ImageUrlPart {
  if (row.picture !== null) return { kind: 'image', index, resourceId: row.resourceId, ...row.picture };
  return { kind: 'image_url', index, resourceId: row.resourceId, url: row.sourceUrl ?? '' };
}

function freeId(index: number, isTaken: (id: string) => boolean): string {
  const base = `img-${index + 1}`;
  let id = base;
  for (let copy = 2; isTaken(id); copy += 1) id = `${base}-${copy}`;
  return id;
}

function checkSame(picture: PreparedPicture, known: ResourceRow): void {
  const isSame =
    picture.kind === 'stored' ||
    (picture.kind === 'bytes'
      ? known.sourceSha256 === picture.sourceSha256
      : known.kind === 'url' && known.sourceUrl === withoutQuery(picture.url));
  if (!isSame) throw resourceConflict(known.resourceId);
}

/** The id already means another picture. */
export function resourceConflict(resourceId: string): AppError {
  return new AppError('RESOURCE_CONFLICT', `resource ${resourceId} of this session is another picture`);
}

function newRow(picture: PreparedPicture, resourceId: string, seal: PlanInput['seal'], nowMs: number): ResourceRow {
  const row = { resourceId, sourceUrl: null, sealedUrl: null, sourceSha256: null, picture: null, createdAt: nowMs };
  switch (picture.kind) {
    case 'stored':
      throw AppError.notFound('resource', resourceId);
    case 'bytes':
      return { ...row, kind: 'base64', sourceSha256: picture.sourceSha256, picture: picture.picture };
    case 'url':
      return {
        ...row,
        kind: 'url',
        sourceUrl: withoutQuery(picture.url),
        sealedUrl: seal(picture.url, resourceId),
      };
  }
}
