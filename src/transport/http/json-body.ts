import { AppError } from '../../common/app-error.js';
import type { Json } from '../../common/json.js';

/** What a JSON text may hold. */
export interface JsonLimits {
  /** How deep objects and arrays may nest. */
  readonly maxDepth: number;
  /** Keys of all objects together. */
  readonly maxKeys: number;
}

const refuse = (message: string): AppError => new AppError('INVALID_BODY', message);

/**
 * The text of a body; a byte order mark at its start is dropped.
 * @throws AppError `INVALID_BODY` when the bytes are not UTF-8
 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new AppError('INVALID_BODY', 'the body is not valid UTF-8', { cause: error });
  }
}

const LONE_SURROGATE = /\p{Surrogate}/u;
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;

/**
 * Measures a JSON text before anything is built from it, in one pass that skips through strings.
 * @throws AppError `INVALID_BODY` when it nests too deep, has too many keys or holds half of a surrogate pair
 */
export function checkShape(text: string, limits: JsonLimits): void {
  const structural = /["{}[\]:]/g;
  let depth = 0;
  let keys = 0;
  for (let match = structural.exec(text); match; match = structural.exec(text)) {
    switch (match[0]) {
      case '"': {
        const end = endOfString(text, match.index);
        checkString(text.slice(match.index, end));
        structural.lastIndex = end;
        break;
      }
      case ':':
        if (++keys > limits.maxKeys) throw refuse(`the body has more than ${limits.maxKeys} keys`);
        break;
      case '{':
      case '[':
        if (++depth > limits.maxDepth) throw refuse(`the body nests deeper than ${limits.maxDepth} levels`);
        break;
      default:
        depth -= 1;
    }
  }
}

/** The index behind the closing quote, or the end of the text when there is none (the parser then says so). */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
  }
  return text.length;
}

function checkString(literal: string): void {
  if (!SURROGATE_ESCAPE.test(literal)) return;
  let value: unknown;
  try {
    value = JSON.parse(literal);
  } catch {
    return; // the parser of the whole text says it better
  }
  if (LONE_SURROGATE.test(String(value))) throw refuse('the body holds half of a surrogate pair');
}

/**
 * Reads JSON from the bytes of a body.
 * @throws AppError `INVALID_BODY` when there are none, when they are no JSON, or when they break a limit
 */
export function parseJson(bytes: Uint8Array | undefined, limits: JsonLimits): Json {
  if (bytes === undefined || bytes.length === 0) throw refuse('the body is empty; a JSON object is expected');
  const text = decodeUtf8(bytes);
  checkShape(text, limits);
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    // The parser's own message quotes the body, which may hold what nobody should read in a log.
    const position = /position \d+/.exec(error instanceof Error ? error.message : '')?.[0];
    throw new AppError('INVALID_BODY', `the body is not valid JSON${position ? ` at ${position}` : ''}`, {
      cause: error,
    });
  }
}
