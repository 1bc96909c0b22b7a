import { isJsonObject, type Json, type JsonObject } from '../../common/json.js';
import { AdkRefusal } from './adk-refusal.js';
import { invalidJson } from './validation/issue.js';
import { findJsonFault } from './json-fault.js';

/** What a request's body was. `missing`: nothing, or the JSON value `null`. */
export type AdkBody =
  | { readonly kind: 'missing' }
  | { readonly kind: 'json'; readonly value: Exclude<Json, null> }
  | { readonly kind: 'text'; readonly text: string };

export interface AdkBodyLimits {
  /** Levels of nesting. */
  readonly maxDepth: number;
  /** Keys of all objects together. */
  readonly maxKeys: number;
}

const LONE_SURROGATE = /\p{Surrogate}/u;
const JSON_TYPE = /^application\/(?:[^;\s]+\+)?json\s*(?:;|$)/i;

/**
 * Reads a body as FastAPI does.
 * @param contentType a JSON type or none at all is parsed, any other stays text
 * @throws AdkRefusal 422 `json_invalid` in Python's words; 400 for bytes that are not UTF-8, too many levels or keys,
 *   numbers beyond a double and lone surrogates
 */
export function readAdkBody(bytes: Uint8Array, contentType: string | undefined, limits: AdkBodyLimits): AdkBody {
  if (bytes.length === 0) return { kind: 'missing' };
  const text = decodeUtf8(bytes);
  if (contentType !== undefined && contentType !== '' && !JSON_TYPE.test(contentType)) return { kind: 'text', text };
  const value = parse(text);
  new BodyCheck(limits).value(value);
  return value === null ? { kind: 'missing' } : { kind: 'json', value };
}

/** UTF-8 without its byte order mark. */
function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw AdkRefusal.unreadable();
  }
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw invalidJson(locate(text, error));
  }
}

function locate(text: string, cause: unknown): { message: string; offset: number } {
  let fault;
  try {
    fault = findJsonFault(text);
  } catch {
    throw AdkRefusal.unreadable();
  }
  if (fault === undefined) throw cause;
  return fault;
}

/** Counts what a body holds, so that nothing is built from one that is too deep or too wide. */
class BodyCheck {
  private keys = 0;

  constructor(private readonly limits: AdkBodyLimits) {}

  value(value: Json, depth = 0): void {
    if (typeof value === 'string') this.text(value);
    else if (typeof value === 'number' && !Number.isFinite(value)) throw AdkRefusal.unreadable();
    else if (typeof value === 'object' && value !== null) {
      if (depth === this.limits.maxDepth) throw AdkRefusal.unreadable();
      if (isJsonObject(value)) this.object(value, depth + 1);
      else for (const item of value) this.value(item, depth + 1);
    }
  }

  private object(object: JsonObject, depth: number): void {
    for (const [key, item] of Object.entries(object)) {
      this.keys += 1;
      if (this.keys > this.limits.maxKeys) throw AdkRefusal.unreadable();
      this.text(key);
      this.value(item, depth);
    }
  }

  private text(text: string): void {
    if (LONE_SURROGATE.test(text)) throw AdkRefusal.unreadable();
  }
}
