/** The container of a picture ends too early or contradicts itself; the message is for logs. */
export class DamagedPictureError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DamagedPictureError';
  }
}

/** Collects what stays of a file. */
export class KeptBytes {
  private readonly pieces: Uint8Array[] = [];
  private length = 0;
  private isChanged = false;

  constructor(private readonly original: Buffer) {}

  keep(start: number, end: number): void {
    this.add(this.original.subarray(start, end));
  }

  /** Adds bytes that the original does not have in this place. */
  replace(bytes: Uint8Array): void {
    this.add(bytes);
    this.isChanged = true;
  }

  /** The original itself when everything of it stays. */
  toBuffer(): Buffer {
    if (!this.isChanged && this.length === this.original.length) return this.original;
    return Buffer.concat(this.pieces, this.length);
  }

  private add(bytes: Uint8Array): void {
    this.pieces.push(bytes);
    this.length += bytes.length;
  }
}
