import { registerDecorator, ValidateNested } from 'class-validator';
import { isJsonObject, type Json } from '../../../common/json.js';
import { NO_OBJECT, type Fault } from './issue.js';
import { list, type Kind } from './kinds.js';

/**
 * A request model: a class whose fields are declared with `Field`, `Nested` and `NestedList`. A property in camelCase
 * is accepted in both spellings, one in snake_case only as it is.
 */
export type ModelClass = new () => object;

export interface FieldOptions {
  /** Default false: the key may be absent. */
  readonly required?: boolean;
  /** Default true for optional fields, false for required ones. */
  readonly nullable?: boolean;
  /** Its value, and everything below it, is never echoed. */
  readonly secret?: boolean;
  /** The name in a `missing` issue; default the camelCase key. */
  readonly missingAs?: string;
}

export interface FieldFacts {
  readonly property: string;
  /** The keys that a client may use, the preferred one first. */
  readonly keys: readonly string[];
  readonly missingAs: string;
  readonly model: (() => ModelClass) | undefined;
  readonly isList: boolean;
  readonly isSecret: boolean;
  /** What is wrong with a raw or coerced value; `undefined` in, when the key is absent. */
  faultOf(value: unknown): Fault | 'missing' | undefined;
  /** The coerced value of a good one, a bad one as it is. */
  coerce(value: Json): Json;
}

interface ModelFacts {
  readonly fields: FieldFacts[];
  isClosed: boolean;
}

const MODELS = new WeakMap<object, ModelFacts>();

/** The declared fields of a model, in order. */
export function factsOf(model: object): ModelFacts {
  let facts = MODELS.get(model);
  if (facts === undefined) {
    facts = { fields: [], isClosed: false };
    MODELS.set(model, facts);
  }
  return facts;
}

/** Unknown keys are refused; without it they are ignored. */
export function Closed(): ClassDecorator {
  return (target) => {
    factsOf(target).isClosed = true;
  };
}

/** A scalar or a free-form value. */
export function Field(kind: Kind, options: FieldOptions = {}): PropertyDecorator {
  return declare({ kind, options, isList: false });
}

/** An object with a model of its own. */
export function Nested(model: () => ModelClass, options: FieldOptions = {}): PropertyDecorator {
  return declare({ kind: object, options, model, isList: false });
}

/**
 * A list of such objects.
 * @param kind what the list as a whole must be
 */
export function NestedList(model: () => ModelClass, options: FieldOptions = {}, kind: Kind = list): PropertyDecorator {
  return declare({ kind, options, model, isList: true });
}

const object: Kind = (value) => (isJsonObject(value) ? { value } : { fault: NO_OBJECT });

const toSnake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

interface Declaration {
  readonly kind: Kind;
  readonly options: FieldOptions;
  readonly model?: () => ModelClass;
  readonly isList: boolean;
}

function declare(declaration: Declaration): PropertyDecorator {
  return (prototype, key) => {
    const property = String(key);
    const field = toFacts(property, declaration);
    factsOf(prototype.constructor).fields.push(field);
    registerDecorator({
      name: 'field',
      target: prototype.constructor,
      propertyName: property,
      validator: { validate: (value) => field.faultOf(value) === undefined },
    });
    if (declaration.model !== undefined) ValidateNested()(prototype, key);
  };
}

function toFacts(property: string, { kind, options, model, isList }: Declaration): FieldFacts {
  const isRequired = options.required ?? false;
  const isNullable = options.nullable ?? !isRequired;
  return {
    property,
    keys: [...new Set([property, toSnake(property)])],
    missingAs: options.missingAs ?? property,
    model,
    isList,
    isSecret: options.secret ?? false,
    faultOf(value) {
      if (value === undefined) return isRequired ? 'missing' : undefined;
      if (value === null && isNullable) return undefined;
      const verdict = kind(value as Json);
      return 'fault' in verdict ? verdict.fault : undefined;
    },
    coerce(value) {
      if (value === null) return value;
      const verdict = kind(value);
      return 'value' in verdict ? verdict.value : value;
    },
  };
}
