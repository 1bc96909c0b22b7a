import { isJsonObject, type JsonObject } from '../common/json.js';

const APP = 'app:';
const USER = 'user:';
const TEMP = 'temp:';

/** A state change, sorted by where each key lives. Prefixes are cut off; `temp:` keys are nowhere. */
export interface ScopedDelta {
  readonly session: JsonObject;
  readonly app: JsonObject;
  readonly user: JsonObject;
}

/** Sorts a delta by its prefixes: `app:` belongs to the app, `user:` to the user in it, `temp:` to nobody. */
export function scopedDelta(delta: JsonObject): ScopedDelta {
  const isScoped = (key: string): boolean => [APP, USER, TEMP].some((prefix) => key.startsWith(prefix));
  // fromEntries, because an assignment to the key `__proto__` stores nothing
  const own = Object.entries(delta).filter(([key]) => !isScoped(key));
  return { session: Object.fromEntries(own), app: scopeOf(delta, APP), user: scopeOf(delta, USER) };
}

function scopeOf(delta: JsonObject, prefix: string): JsonObject {
  const entries = Object.entries(delta).filter(([key]) => key.startsWith(prefix));
  return Object.fromEntries(entries.map(([key, value]) => [key.slice(prefix.length), value]));
}

/** The view that callers and agents have: session keys, then `app:` and `user:` keys. */
export function mergedState(session: JsonObject, app: JsonObject, user: JsonObject): JsonObject {
  return { ...session, ...prefixed(APP, app), ...prefixed(USER, user) };
}

/** The delta without its `temp:` keys, as it may be stored and shown. */
export function withoutTemp(delta: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(delta).filter(([key]) => !key.startsWith(TEMP)));
}

/** Reads a stored state column. */
export function stateOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

function prefixed(prefix: string, state: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(state).map(([key, value]) => [prefix + key, value]));
}
