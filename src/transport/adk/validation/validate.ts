import { validateSync, type ValidationError } from 'class-validator';
import { isJsonObject, type Json, type JsonObject } from '../../../common/json.js';
import type { AdkBody } from '../adk-json.js';
import { EXTRA, MISSING, NO_OBJECT, refuse, toIssue, type Issue } from './issue.js';
import { factsOf, type FieldFacts } from './model.js';
import { EXTRA_PREFIX, originOf, readModel } from './read-model.js';

/** Stands for a secret that a client sent. */
export const REDACTED = '[redacted]';
const SECRET_KEYS = new Set(['mcp_servers', 'mcpServers', 'api_key', 'apiKey']);
const ECHOED_TEXT = 200;

type Loc = readonly (string | number)[];

/**
 * The body as an instance of its model: coerced, every rule of the model kept.
 * @throws AdkRefusal 422 with every issue, in the order of the model's fields
 */
export function validateBody<Model extends object>(model: new () => Model, body: AdkBody): Model {
  if (body.kind === 'missing') throw refuse([toIssue(MISSING, ['body'], null)]);
  const value = body.kind === 'text' ? body.text : body.value;
  if (!isJsonObject(value)) throw refuse([toIssue(NO_OBJECT, ['body'], echoRoot(value))]);
  const instance = readModel(model, value);
  const errors = validateSync(instance, { whitelist: true, forbidNonWhitelisted: true });
  if (errors.length > 0) throw refuse(explain(instance, errors, ['body']));
  return instance as Model;
}

/** Issues of one object: its fields in order, then its unknown keys. */
function explain(instance: object, errors: readonly ValidationError[], loc: Loc): Issue[] {
  const { fields } = factsOf(instance.constructor);
  const { source } = originOf(instance);
  const declared = fields.flatMap((field) => {
    const error = errors.find((candidate) => candidate.property === field.property);
    return error === undefined ? [] : explainField(field, error, instance, loc);
  });
  const extras = errors
    .filter(({ property }) => property.startsWith(EXTRA_PREFIX))
    .map(({ property }) => property.slice(EXTRA_PREFIX.length))
    .map((key) => toIssue(EXTRA, [...loc, key], echo(source[key] as Json)));
  return [...declared, ...extras];
}

function explainField(field: FieldFacts, error: ValidationError, instance: object, loc: Loc): Issue[] {
  const { source, keys } = originOf(instance);
  const key = keys.get(field.property);
  const raw = key === undefined ? undefined : (source[key] as Json);
  const fault = field.faultOf(raw);
  if (fault === 'missing') return [toIssue(MISSING, [...loc, field.missingAs], echo(source))];
  const at = [...loc, key as string];
  const issues =
    fault === undefined ? explainNested(field, error, raw as Json, at) : [toIssue(fault, at, echo(raw as Json))];
  return field.isSecret ? issues.map(redact) : issues;
}

function explainNested(field: FieldFacts, error: ValidationError, raw: Json, at: Loc): Issue[] {
  const children = error.children ?? [];
  if (!field.isList) return explain(error.value as object, children, at);
  return children.flatMap((item) => {
    const index = Number(item.property);
    return isJsonObject((raw as readonly Json[])[index])
      ? explain(item.value as object, item.children ?? [], [...at, index])
      : [toIssue(NO_OBJECT, [...at, index], echo((raw as readonly Json[])[index] as Json))];
  });
}

const redact = (issue: Issue): Issue => ({ ...issue, ...(issue.input !== undefined && { input: REDACTED }) });

/** A value as an issue may show it. */
export function echo(value: Json): Json {
  if (Array.isArray(value)) return value.map(echo);
  if (!isJsonObject(value)) return value;
  const shown = Object.entries(value).map(([key, item]) => [key, SECRET_KEYS.has(key) ? REDACTED : echo(item)]);
  return Object.fromEntries(shown) as JsonObject;
}

/** A body that is no object; a text is cut, and left out when it may hold a key. */
function echoRoot(value: Json): Json | undefined {
  if (typeof value !== 'string') return echo(value);
  return /api_?key/i.test(value) ? undefined : value.slice(0, ECHOED_TEXT);
}
