/** A JSON schema (2020-12) of the OpenAPI document. */
export type Schema = Readonly<Record<string, unknown>>;

export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
export const listOf = (items: Schema): Schema => ({ type: 'array', items });
export const nullable = (schema: Schema): Schema => ({ oneOf: [schema, { type: 'null' }] });

export const text: Schema = { type: 'string' };
export const textOrNull: Schema = { type: ['string', 'null'] };
export const count: Schema = { type: 'integer', minimum: 0 };
export const countOrNull: Schema = { type: ['integer', 'null'], minimum: 0 };
export const flag: Schema = { type: 'boolean' };
export const time: Schema = { type: 'string', format: 'date-time', description: 'UTC, milliseconds.' };
export const timeOrNull: Schema = { type: ['string', 'null'], format: 'date-time' };
export const anyObject: Schema = { type: 'object', additionalProperties: true };
export const oneOf = (...values: readonly string[]): Schema => ({ type: 'string', enum: values });

/** An object; names in `required` are always there, the rest may be missing in older answers. */
export function object(properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema {
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

export const capabilities = listOf(oneOf('image_generation', 'vision'));
export const runStatus: Schema = {
  type: 'string',
  description: 'queued, running, waiting_input, cancelling, completed, failed, cancelled or expired.',
};
export const machineKey: Schema = { type: 'string', description: 'Machine key; accept unknown ones.' };
