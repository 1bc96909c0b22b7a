import { isJsonObject, type Json, type JsonObject } from '../common/json.js';

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
  const scoped: { session: Record<string, Json>; app: Record<string, Json>; user: Record<string, Json> } = {
    session: {},
    app: {},
    user: {},
  };
  for (const [key, value] of Object.entries(delta)) {
    if (key.startsWith(APP)) scoped.app[key.slice(APP.length)] = value;
    else if (key.startsWith(USER)) scoped.user[key.slice(USER.length)] = value;
    else if (!key.startsWith(TEMP)) scoped.session[key] = value;
  }
  return scoped;
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
