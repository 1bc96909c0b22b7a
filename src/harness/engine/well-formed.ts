/// <reference lib="es2024.string" />
import type { Json, JsonObject } from '../../common/json.js';

const ENDS_WITH_HIGH_SURROGATE = /[\uD800-\uDBFF]$/;

/** The JSON value with each lone surrogate replaced by U+FFFD, keys included: databases refuse them. */
export function toWellFormedJson<T extends Json>(value: T): T;
export function toWellFormedJson(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed();
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item: Json) => toWellFormedJson(item));
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, item]) => [key.toWellFormed(), toWellFormedJson(item)]),
  );
}

/**
 * Makes each piece of a streamed text whole by itself. Providers cut an escaped emoji between its two halves;
 * the first half waits for the second.
 */
export class WellFormedText {
  private held = '';

  /** What can be shown now; may be empty. */
  push(piece: string): string {
    const text = this.held + piece;
    const cut = ENDS_WITH_HIGH_SURROGATE.test(text) ? text.length - 1 : text.length;
    this.held = text.slice(cut);
    return text.slice(0, cut).toWellFormed();
  }

  /** What is left at the end of the stream: U+FFFD for a half that never got its other half. */
  flush(): string {
    const rest = this.held.toWellFormed();
    this.held = '';
    return rest;
  }
}
