/** What reading the text of a picture came to. */
export type TextReading =
  | { readonly outcome: 'read'; readonly lines: readonly string[]; /** 0–1 */ readonly confidence: number }
  | { readonly outcome: 'none' }
  /** The time limit passed first, milliseconds. */
  | { readonly outcome: 'too_slow'; readonly limitMs: number }
  | { readonly outcome: 'failed' }
  | { readonly outcome: 'not_installed'; readonly packages: readonly string[] };

/** Reads the text in a picture. */
export abstract class TextReader {
  /**
   * @param bytes a picture in a common format
   * @throws only the signal's reason; whatever else goes wrong is an outcome
   */
  abstract read(bytes: Uint8Array, signal: AbortSignal): Promise<TextReading>;

  /** Ends what the reader holds; reading afterwards starts anew. */
  abstract close(): Promise<void>;
}
