import type { JsonObject } from '../common/json.js';

/** A picture of a message: facts of what is stored, never bytes. */
export interface ImagePart {
  readonly kind: 'image';
  /** Position among the pictures of the message, from 0. */
  readonly index: number;
  readonly resourceId: string;
  /** SHA-256 (hex) of the stored, upright picture. */
  readonly sha256: string;
  readonly mimeType: string;
  readonly width: number;
  readonly height: number;
  readonly bytes: number;
  readonly displayName?: string;
}

/** A picture that is fetched inside the run; `image_attached` facts follow in the run's input once it is stored. */
export interface ImageUrlPart {
  readonly kind: 'image_url';
  readonly index: number;
  readonly resourceId: string;
  /** The caller's URL without its query. */
  readonly url: string;
  readonly displayName?: string;
}

export interface TextPart {
  readonly kind: 'text';
  readonly text: string;
  readonly thought?: boolean;
  /** Opaque text of a provider, kept as given. */
  readonly signature?: string;
}

/** A part that a dialect must give back as it came and that the model does not read. */
export interface WirePart {
  readonly kind: 'wire';
  readonly dialect: 'adk';
  readonly value: JsonObject;
}

/** One piece of a user's message. */
export type Part = TextPart | ImagePart | ImageUrlPart | WirePart;

/** What a user sent: one message. */
export interface UserInput {
  readonly requestId?: string;
  /** ADK keeps an unusual role as it was given; absent means `user`. */
  readonly role?: string;
  readonly parts: readonly Part[];
}

/** True for a picture, fetched or not. */
export function isPicture(part: Part): part is ImagePart | ImageUrlPart {
  return part.kind === 'image' || part.kind === 'image_url';
}

/** The plain text of a message: its text parts joined by a line feed, thoughts left out. */
export function textOf(parts: readonly Part[]): string {
  return parts
    .filter((part): part is TextPart => part.kind === 'text' && part.thought !== true)
    .map((part) => part.text)
    .join('\n');
}
