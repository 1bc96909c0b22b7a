import type { EntityManager } from 'typeorm';
import type { Database } from '../database/database.js';
import type { PictureType } from './picture-type.js';
import type { PictureOwner, ResourceKind, StoredPicture, StoredResource } from './pictures.types.js';

/** A row of `resources`, without its owner. */
export interface ResourceRow extends StoredResource {
  /** The whole URL, encrypted, until it was fetched. */
  readonly sealedUrl: string | null;
  readonly sourceSha256: string | null;
}

interface Columns {
  readonly resource_id: string;
  readonly kind: ResourceKind;
  readonly source_url: string | null;
  readonly sealed_url: string | null;
  readonly source_sha256: string | null;
  readonly sha256: string | null;
  readonly mime_type: PictureType;
  readonly width: number;
  readonly height: number;
  readonly bytes: number;
  readonly created_at: number | string;
}

type Query = <Row>(sql: string, parameters: readonly unknown[]) => Promise<Row[]>;

const SELECT = `SELECT resource_id, kind, source_url, sealed_url, source_sha256, sha256, mime_type, width, height, bytes,
  created_at FROM resources WHERE tenant_id = ? AND session_id = ?`;

/** Reads inside a transaction. */
export const inside =
  (manager: EntityManager): Query =>
  <Row>(sql: string, parameters: readonly unknown[]) =>
    manager.query<Row[]>(sql, [...parameters]);

/** Reads committed rows. */
export const outside =
  (database: Database): Query =>
  <Row>(sql: string, parameters: readonly unknown[]) =>
    database.query<Row>(sql, parameters);

/** All pictures of a session. */
export async function readResources(query: Query, owner: PictureOwner): Promise<ResourceRow[]> {
  return (await query<Columns>(SELECT, [owner.tenantId, owner.id])).map(toRow);
}

/** One picture of a session. */
export async function readResource(
  query: Query,
  owner: PictureOwner,
  resourceId: string,
): Promise<ResourceRow | undefined> {
  const [row] = await query<Columns>(`${SELECT} AND resource_id = ?`, [owner.tenantId, owner.id, resourceId]);
  return row === undefined ? undefined : toRow(row);
}

/** Adds rows, in one statement. */
export async function insertResources(
  manager: EntityManager,
  owner: PictureOwner,
  rows: readonly ResourceRow[],
): Promise<void> {
  if (rows.length === 0) return;
  const values = rows.map((row) => [
    owner.id,
    row.resourceId,
    owner.tenantId,
    row.kind,
    row.sourceUrl,
    row.sealedUrl,
    row.sourceSha256,
    row.picture?.sha256 ?? null,
    ...pictureColumns(row.picture),
    row.createdAt,
  ]);
  const places = values.map((row) => `(${row.map(() => '?').join(', ')})`).join(', ');
  await manager.query(
    `INSERT INTO resources (session_id, resource_id, tenant_id, kind, source_url, sealed_url, source_sha256, blob_key,
       sha256, mime_type, width, height, bytes, created_at) VALUES ${places}`,
    values.flat(),
  );
}

/** A newer URL of a picture that was not fetched yet. */
export async function updateSealedUrl(
  manager: EntityManager,
  owner: PictureOwner,
  resourceId: string,
  sealedUrl: string,
): Promise<void> {
  await manager.query(
    'UPDATE resources SET sealed_url = ? WHERE tenant_id = ? AND session_id = ? AND resource_id = ? AND sha256 IS NULL',
    [sealedUrl, owner.tenantId, owner.id, resourceId],
  );
}

/** The picture behind a URL is stored: its URL is not needed any more. */
export async function updateFetched(
  manager: EntityManager,
  owner: PictureOwner,
  resourceId: string,
  sourceSha256: string,
  picture: StoredPicture,
): Promise<void> {
  await manager.query(
    `UPDATE resources SET sealed_url = NULL, source_sha256 = ?, blob_key = ?, sha256 = ?, mime_type = ?, width = ?,
       height = ?, bytes = ? WHERE tenant_id = ? AND session_id = ? AND resource_id = ? AND sha256 IS NULL`,
    [sourceSha256, picture.sha256, ...pictureColumns(picture), owner.tenantId, owner.id, resourceId],
  );
}

/** Removes a session's rows and answers the keys of the blobs that they named. */
export async function deleteResources(manager: EntityManager, owner: PictureOwner): Promise<string[]> {
  const owned = [owner.tenantId, owner.id];
  const keys = await manager.query<{ blob_key: string }[]>(
    'SELECT DISTINCT blob_key FROM resources WHERE tenant_id = ? AND session_id = ? AND blob_key IS NOT NULL',
    owned,
  );
  await manager.query('DELETE FROM resources WHERE tenant_id = ? AND session_id = ?', owned);
  return keys.map((row) => row.blob_key);
}

/**
 * True when any row names the blob. Blobs are shared, so this looks at all sessions of all tenants; where rows have
 * locks it waits for those that are being written.
 */
export async function isBlobUsed(database: Database, manager: EntityManager, key: string): Promise<boolean> {
  const sql = `SELECT 1 FROM resources WHERE blob_key = ? LIMIT 1${database.forUpdate}`;
  return (await manager.query<unknown[]>(sql, [key])).length > 0;
}

function pictureColumns(picture: StoredPicture | null): unknown[] {
  if (picture === null) return [null, null, null, null, null];
  return [picture.sha256, picture.mimeType, picture.width, picture.height, picture.bytes];
}

function toRow(row: Columns): ResourceRow {
  const { sha256 } = row;
  return {
    resourceId: row.resource_id,
    kind: row.kind,
    sourceUrl: row.source_url,
    sealedUrl: row.sealed_url,
    sourceSha256: row.source_sha256,
    picture:
      sha256 === null
        ? null
        : { sha256, mimeType: row.mime_type, width: row.width, height: row.height, bytes: row.bytes },
    createdAt: Number(row.created_at), // MySQL returns bigint as text
  };
}
