import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { JsonObject } from '../../common/json.js';

/** At most so many faults are told to the model. */
const MAX_FAULTS = 10;

// Schemas are tools' own, of any maker: unknown keywords are no fault, and two of them may have one `$id`.
const ajv = new Ajv2020({ strict: false, allErrors: true, addUsedSchema: false });
formats.default(ajv);

const compiled = new WeakMap<JsonObject, ValidateFunction>();

/**
 * What is wrong with the arguments of a tool call.
 * @param schema JSON schema, 2020-12; compiled once per object
 * @returns one line a fault, e.g. `/city must be string`; empty when they fit
 * @throws Error when the schema itself is broken
 */
export function argumentFaults(schema: JsonObject, args: JsonObject): readonly string[] {
  const validate = compiled.get(schema) ?? compile(schema);
  if (validate(args)) return [];
  return (validate.errors ?? []).slice(0, MAX_FAULTS).map(toLine);
}

function compile(schema: JsonObject): ValidateFunction {
  // A tool that names an older draft is read as 2020-12: for arguments the drafts agree.
  const { $schema: _draft, ...rest } = schema;
  const validate = ajv.compile(rest);
  compiled.set(schema, validate);
  return validate;
}

function toLine({ instancePath, message, params, keyword }: ErrorObject): string {
  const extra: unknown = keyword === 'additionalProperties' ? params.additionalProperty : params.allowedValues;
  const suffix = extra === undefined ? '' : ` (${JSON.stringify(extra)})`;
  return `${instancePath === '' ? '/' : instancePath} ${message ?? 'is invalid'}${suffix}`;
}
