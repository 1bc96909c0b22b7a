/** Bytes under their own digest: written once, read many times. */
export abstract class BlobStore {
  /** Stores the bytes and answers their key, the SHA-256 in hex; storing the same bytes again changes nothing. */
  abstract put(bytes: Uint8Array): Promise<string>;
  /**
   * @throws AppError `RESOURCE_NOT_FOUND` when no such blob is stored
   */
  abstract get(key: string): Promise<Uint8Array>;
  /** Removes the blob; an absent one is fine. */
  abstract delete(key: string): Promise<void>;
}
