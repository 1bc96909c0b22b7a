import { isJsonObject, type Json } from '../../../common/json.js';
import { decodeBase64, encodeBase64 } from './base64.js';
import type { Fault } from './issue.js';

/** The accepted value, coerced, or what is wrong with it. */
export type Verdict = { readonly value: Json } | { readonly fault: Fault };

/** Judges one value that is neither absent nor null. */
export type Kind = (value: Json) => Verdict;

const fail = (type: string, msg: string, ctx?: Fault['ctx']): Verdict => ({
  fault: { type, msg, ...(ctx && { ctx }) },
});

export const text: Kind = (value) =>
  typeof value === 'string' ? { value } : fail('string_type', 'Input should be a valid string');

const FLAGS = new Map<Json, boolean>([
  ...['true', '1', 'yes', 'on', 't', 'y'].map((word) => [word, true] as const),
  ...['false', '0', 'no', 'off', 'f', 'n'].map((word) => [word, false] as const),
]);

export const flag: Kind = (value) => {
  if (typeof value === 'boolean') return { value };
  const known = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.toLowerCase() : null;
  const parsed = FLAGS.get(known);
  if (parsed !== undefined) return { value: parsed };
  return typeof value === 'string' || Number.isInteger(value)
    ? fail('bool_parsing', 'Input should be a valid boolean, unable to interpret input')
    : fail('bool_type', 'Input should be a valid boolean');
};

const WHOLE_TEXT = /^\s*[-+]?[0-9]+(?:_[0-9]+)*(?:\.0*)?\s*$/;

export const whole: Kind = (value) => {
  if (typeof value === 'boolean') return { value: Number(value) };
  if (typeof value === 'string')
    return WHOLE_TEXT.test(value)
      ? { value: Number(value.replaceAll('_', '')) }
      : fail('int_parsing', 'Input should be a valid integer, unable to parse string as an integer');
  if (typeof value !== 'number') return fail('int_type', 'Input should be a valid integer');
  return Number.isInteger(value)
    ? { value }
    : fail('int_from_float', 'Input should be a valid integer, got a number with a fractional part');
};

/** A whole number that is at least 1. */
export const positive: Kind = (value) => {
  const verdict = whole(value);
  return 'value' in verdict && (verdict.value as number) < 1
    ? fail('greater_than_equal', 'Input should be greater than or equal to 1', { ge: 1 })
    : verdict;
};

export const number: Kind = (value) => {
  if (typeof value === 'number') return { value };
  if (typeof value === 'boolean') return { value: Number(value) };
  if (typeof value !== 'string') return fail('float_type', 'Input should be a valid number');
  const parsed = value.trim() === '' ? Number.NaN : Number(value);
  return Number.isFinite(parsed)
    ? { value: parsed }
    : fail('float_parsing', 'Input should be a valid number, unable to parse string as a number');
};

export const map: Kind = (value) =>
  isJsonObject(value) ? { value } : fail('dict_type', 'Input should be a valid dictionary');

export const list: Kind = (value) =>
  Array.isArray(value) ? { value } : fail('list_type', 'Input should be a valid list');

export const anything: Kind = (value) => ({ value });

/** Bytes as base64; accepted ones become URL-safe with padding. */
export const bytes: Kind = (value) => {
  if (typeof value !== 'string') return fail('bytes_type', 'Input should be a valid bytes');
  const decoded = decodeBase64(value);
  if ('bytes' in decoded) return { value: encodeBase64(decoded.bytes) };
  return fail('bytes_invalid_encoding', `Data should be valid base64: ${decoded.error}`, {
    encoding: 'base64',
    encoding_error: decoded.error,
  });
};

/** Exactly one of these texts. */
export function literal(...accepted: readonly [string, ...string[]]): Kind {
  const quoted = accepted.map((word) => `'${word}'`);
  const expected = [quoted.slice(0, -1).join(', '), quoted.at(-1)].filter((piece) => piece !== '').join(' or ');
  return (value) =>
    typeof value === 'string' && accepted.includes(value)
      ? { value }
      : fail('literal_error', `Input should be ${expected}`, { expected });
}

/** A kind with a rule of ours on top; `problemOf` answers undefined for a good value. */
export function ruled(kind: Kind, problemOf: (value: Json) => Fault | undefined): Kind {
  return (value) => {
    const verdict = kind(value);
    const fault = 'value' in verdict ? problemOf(verdict.value) : undefined;
    return fault === undefined ? verdict : { fault };
  };
}
