import { isJsonObject, type Json, type JsonObject } from '../../common/json.js';
import { AdkRefusal } from './adk-refusal.js';
import { invalidJson } from './validation/issue.js';
import { findJsonFault } from './json-fault.js';

/** What a request's body was. `missing`: nothing, or the JSON value `null`. */
export type AdkBody =
  | { readonly kind: 'missing' }
  | { readonly kind: 'json'; readonly value: Exclude<Json, null> }
  | { readonly kind: 'text'; readonly text: string };

const LONE_SURROGATE = /\p{Surrogate}/u;
const JSON_TYPE = /^application\/(?:[^;\s]+\+)?json\s*(?:;|$)/i;

/**
 * Reads a body as FastAPI does.
 * @param contentType a JSON type or none at all is parsed, any other stays text
 * @param maxDepth levels of nesting that are accepted
 * @throws AdkRefusal 422 `json_invalid` in Python's words; 400 for bytes that are not UTF-8, nesting that is too
 *   deep, numbers beyond a double and lone surrogates
 */
export function readAdkBody(bytes: Uint8Array, contentType: string | undefined, maxDepth = 64): AdkBody {
  if (bytes.length === 0) return { kind: 'missing' };
  const text = decodeUtf8(bytes);
  if (contentType !== undefined && contentType !== '' && !JSON_TYPE.test(contentType)) return { kind: 'text', text };
  const value = parse(text);
  check(value, maxDepth);
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

function check(value: Json, levels: number): void {
  if (typeof value === 'string') refuseSurrogate(value);
  else if (typeof value === 'number' && !Number.isFinite(value)) throw AdkRefusal.unreadable();
  else if (typeof value === 'object' && value !== null) {
    if (levels === 0) throw AdkRefusal.unreadable();
    if (isJsonObject(value)) checkObject(value, levels - 1);
    else for (const item of value) check(item, levels - 1);
  }
}

function checkObject(object: JsonObject, levels: number): void {
  for (const [key, item] of Object.entries(object)) {
    refuseSurrogate(key);
    check(item, levels);
  }
}

function refuseSurrogate(text: string): void {
  if (LONE_SURROGATE.test(text)) throw AdkRefusal.unreadable();
}
