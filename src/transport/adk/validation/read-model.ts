import { isJsonObject, type Json, type JsonObject } from '../../../common/json.js';
import { factsOf, type FieldFacts, type ModelClass } from './model.js';

/** Where an instance came from. */
interface Origin {
  readonly source: JsonObject;
  /** Property → the key that the client used for it. */
  readonly keys: ReadonlyMap<string, string>;
}

/** Unknown keys stand apart on an instance: a client's `constructor` must not become the instance's. */
export const EXTRA_PREFIX = 'extra:';

const ORIGINS = new WeakMap<object, Origin>();

/** The object that an instance was read from. */
export function originOf(instance: object): Origin {
  const origin = ORIGINS.get(instance);
  if (origin === undefined) throw new Error('not an instance of a read model');
  return origin;
}

/** The key that the client used for a property, e.g. `new_message`; the property's own name when there was none. */
export function spelled(instance: object, property: string): string {
  return originOf(instance).keys.get(property) ?? property;
}

/**
 * An instance of the model, not validated yet: known keys of either spelling (camelCase wins) coerced where they
 * can be, and the unknown keys of a closed model as they are, for the white list to find.
 */
export function readModel(model: ModelClass, source: JsonObject): object {
  const instance = new model() as Record<string, unknown>;
  const facts = factsOf(model);
  const keys = new Map<string, string>();
  const known = new Set<string>();
  for (const field of facts.fields) {
    field.keys.forEach((key) => known.add(key));
    const key = field.keys.find((candidate) => Object.hasOwn(source, candidate));
    if (key === undefined) continue;
    keys.set(field.property, key);
    const value = source[key] as Json;
    // class-validator refuses a nested `null`, accepted or not; an accepted one is as good as absent.
    if (value === null && field.model !== undefined && field.faultOf(value) === undefined) continue;
    instance[field.property] = readField(field, value);
  }
  if (facts.isClosed)
    for (const key of Object.keys(source)) if (!known.has(key)) instance[EXTRA_PREFIX + key] = source[key];
  ORIGINS.set(instance, { source, keys });
  return instance;
}

function readField(field: FieldFacts, value: Json): unknown {
  if (field.model === undefined) return field.coerce(value);
  const model = field.model();
  if (!field.isList) return isJsonObject(value) ? readModel(model, value) : value;
  if (!Array.isArray(value)) return value;
  return value.map((item: Json) => (isJsonObject(item) ? readModel(model, item) : item));
}

/**
 * A read and valid model as it goes over the wire: camelCase keys in the declared order, unset and null fields left
 * out, free-form maps as they came.
 */
export function toWire(instance: object): JsonObject {
  const wire: Record<string, Json> = {};
  for (const field of factsOf(instance.constructor).fields) {
    const value = (instance as Record<string, unknown>)[field.property];
    if (value === undefined || value === null) continue;
    wire[field.property] = field.model === undefined ? (value as Json) : toWireValue(value);
  }
  return wire;
}

const toWireValue = (value: unknown): Json => (Array.isArray(value) ? value.map(toWire) : toWire(value as object));
