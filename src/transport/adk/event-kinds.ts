import { isJsonObject, type Json, type JsonObject } from '../../common/json.js';
import { map, type Kind } from './validation/kinds.js';

/** An object of the peer's own types, which are not checked here: its keys become camelCase. */
export const metadata: Kind = (value) => {
  const verdict = map(value);
  return 'value' in verdict ? { value: camelised(verdict.value, false) } : verdict;
};

/** The same with its keys in alphabetical order, at every level. */
export const sortedMetadata: Kind = (value) => {
  const verdict = map(value);
  return 'value' in verdict ? { value: camelised(verdict.value, true) } : verdict;
};

/** Confirmations by the id of their call, each `{hint, confirmed, payload?}`. */
export const confirmations: Kind = (value) => {
  if (!isJsonObject(value)) return map(value);
  const entries = Object.entries(value).map(([id, given]) => [id, isJsonObject(given) ? confirmation(given) : given]);
  return { value: Object.fromEntries(entries) as JsonObject };
};

function confirmation({ hint = '', confirmed = false, payload = null }: JsonObject): JsonObject {
  return { hint, confirmed, ...(payload !== null && { payload }) };
}

/** Where a workflow goes next: a text, a number, a flag or a list of them. */
export const route: Kind = (value) =>
  isJsonObject(value) ? { fault: { type: 'string_type', msg: 'Input should be a valid string' } } : { value };

function camelised(value: Json, isSorted: boolean): Json {
  if (Array.isArray(value)) return value.map((item: Json) => camelised(item, isSorted));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value)
    .filter(([, item]) => item !== null)
    .map(([key, item]) => [toCamel(key), camelised(item, isSorted)] as const);
  if (isSorted) entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries<Json>(entries);
}

const toCamel = (key: string): string => key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
