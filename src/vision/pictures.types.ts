import type { PictureType } from './picture-type.js';

/** A picture as a caller names it. */
export type PictureInput =
  | { readonly kind: 'url'; readonly resourceId?: string; readonly url: string }
  | { readonly kind: 'bytes'; readonly resourceId?: string; readonly bytes: Uint8Array }
  | { readonly kind: 'stored'; readonly resourceId: string };

/** What is stored of a picture. */
export interface StoredPicture {
  /** SHA-256 (hex) of the stored, upright picture; also the key of its blob. */
  readonly sha256: string;
  readonly mimeType: PictureType;
  readonly width: number;
  readonly height: number;
  readonly bytes: number;
}

/** A checked picture, before a message holds it. */
export type PreparedPicture =
  | {
      readonly kind: 'bytes';
      readonly resourceId: string | undefined;
      /** SHA-256 (hex) of what the caller sent. */
      readonly sourceSha256: string;
      readonly picture: StoredPicture;
      /** Tells that a row names the blob now. */
      readonly settle: () => void;
    }
  | { readonly kind: 'url'; readonly resourceId: string | undefined; readonly url: URL }
  | { readonly kind: 'stored'; readonly resourceId: string };

/** How a picture came into its session. */
export type ResourceKind = 'upload' | 'base64' | 'url' | 'artifact';

/** A picture of a session. */
export interface StoredResource {
  readonly resourceId: string;
  readonly kind: ResourceKind;
  /** The caller's URL without its query. */
  readonly sourceUrl: string | null;
  /** null until a URL was fetched. */
  readonly picture: StoredPicture | null;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** The session that a picture belongs to. */
export interface PictureOwner {
  readonly id: string;
  readonly tenantId: string;
}
