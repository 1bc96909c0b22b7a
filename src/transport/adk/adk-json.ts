import { isJsonObject, type Json } from '../../common/json.js';
import { AdkRefusal } from './adk-refusal.js';
import { invalidJson } from './validation/issue.js';
import { JsonScan, JsonTooLarge, type JsonFault, type JsonLimits } from './json-scan.js';

/** What a request's body was. `missing`: nothing, or the JSON value `null`. */
export type AdkBody =
  | { readonly kind: 'missing' }
  | { readonly kind: 'json'; readonly value: Exclude<Json, null> }
  | { readonly kind: 'text'; readonly text: string };

const LONE_SURROGATE = /\p{Surrogate}/u;
const JSON_TYPE = /^application\/(?:[^;\s]+\+)?json\s*(?:;|$)/i;

/**
 * Reads a body as FastAPI does. What it holds is measured before anything is built from it.
 * @param contentType a JSON type or none at all is parsed, any other stays text
 * @throws AdkRefusal 422 `json_invalid` in Python's words; 400 for bytes that are not UTF-8, too many levels, keys
 *   or items, numbers beyond a double and lone surrogates
 */
export function readAdkBody(bytes: Uint8Array, contentType: string | undefined, limits: JsonLimits): AdkBody {
  if (bytes.length === 0) return { kind: 'missing' };
  const text = decodeUtf8(bytes);
  if (contentType !== undefined && contentType !== '' && !JSON_TYPE.test(contentType)) return { kind: 'text', text };
  const fault = faultOf(text, limits);
  if (fault !== undefined) throw invalidJson(fault);
  const value = JSON.parse(text) as Json;
  checkScalars(value);
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

function faultOf(text: string, limits: JsonLimits): JsonFault | undefined {
  try {
    return new JsonScan(text, limits).run();
  } catch (error) {
    throw error instanceof JsonTooLarge ? AdkRefusal.unreadable() : error;
  }
}

/** What is JSON and yet nothing that can be kept: numbers beyond a double, halves of surrogate pairs. */
function checkScalars(value: Json): void {
  if (typeof value === 'string') checkText(value);
  else if (typeof value === 'number' && !Number.isFinite(value)) throw AdkRefusal.unreadable();
  else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      checkText(key);
      checkScalars(item);
    }
  } else if (Array.isArray(value)) for (const item of value as readonly Json[]) checkScalars(item);
}

function checkText(text: string): void {
  if (LONE_SURROGATE.test(text)) throw AdkRefusal.unreadable();
}
