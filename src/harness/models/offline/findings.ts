import type { PicturePart } from './conversation.js';
import type { PictureFacts } from './measure-picture.js';
import type { TextReading } from './text-reader.port.js';

/** All that is known of one picture of a request. */
export interface Finding {
  readonly part: PicturePart;
  /** Bytes of the stored picture; undefined when the model got a smaller one. */
  readonly bytes: number | undefined;
  readonly facts: PictureFacts;
  readonly reading: TextReading;
}

/** `PNG`, `JPEG`, … */
export const formatOf = (part: PicturePart): string => part.mimeType.replace(/^image\//, '').toUpperCase();

/** Lines of text in a picture; empty when none was read. */
export const linesOf = (finding: Finding): readonly string[] =>
  finding.reading.outcome === 'read' ? finding.reading.lines : [];
