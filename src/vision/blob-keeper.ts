import { createHash } from 'node:crypto';
import type { Database } from '../database/database.js';
import type { BlobStore } from '../storage/blob-store.port.js';
import { isBlobUsed } from './resource-rows.js';

/** A stored blob that stays even though no row names it yet. */
export interface HeldBlob {
  readonly key: string;
  /** Call it inside the transaction that names the blob, once the row is written; more than once is fine. */
  readonly settle: () => void;
}

/**
 * Stores blobs and deletes those that no row names. A blob lies in the store before its row is written, and another
 * session may delete its last row of the same bytes just then: until the row is there the blob is held.
 * The hold is of this process; two processes on one folder are not guarded against each other.
 */
export class BlobKeeper {
  private readonly holds = new Map<string, number>();
  private readonly lanes = new Map<string, Promise<unknown>>();

  /** @param holdMs after which a blob without a row is removed: its message was refused */
  constructor(
    private readonly database: Database,
    private readonly blobs: BlobStore,
    private readonly holdMs = 600_000,
  ) {}

  /** Stores the bytes and holds them until `settle`, at most `holdMs`. */
  async store(bytes: Uint8Array): Promise<HeldBlob> {
    const key = createHash('sha256').update(bytes).digest('hex');
    return this.inLane(key, async () => {
      await this.blobs.put(bytes);
      return this.hold(key);
    });
  }

  /** Deletes the blobs that nobody holds and no row names. */
  async deleteUnused(keys: readonly string[]): Promise<void> {
    await Promise.all(keys.map((key) => this.inLane(key, () => this.deleteIfUnused(key))));
  }

  private async deleteIfUnused(key: string): Promise<void> {
    if (this.holds.has(key)) return; // looked at again when the hold ends
    // not a read of committed rows: a row that is being written counts
    if (await this.database.inTransaction((manager) => isBlobUsed(this.database, manager, key))) return;
    await this.blobs.delete(key);
  }

  private hold(key: string): HeldBlob {
    this.holds.set(key, (this.holds.get(key) ?? 0) + 1);
    let isHeld = true;
    const settle = (): void => {
      if (!isHeld) return;
      isHeld = false;
      const others = (this.holds.get(key) ?? 1) - 1;
      if (others === 0) this.holds.delete(key);
      else this.holds.set(key, others);
    };
    const timer = setTimeout(() => {
      settle();
      // a failure leaves the blob, which harms nobody; the next deletion of the same bytes tries again
      this.deleteUnused([key]).catch(() => undefined);
    }, this.holdMs);
    timer.unref();
    return { key, settle };
  }

  /** Work on one blob happens one after another. */
  private inLane<T>(key: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.lanes.get(key) ?? Promise.resolve()).then(work, work);
    const done = turn.then(
      () => undefined,
      () => undefined,
    );
    this.lanes.set(key, done);
    void done.then(() => {
      if (this.lanes.get(key) === done) this.lanes.delete(key);
    });
    return turn;
  }
}
