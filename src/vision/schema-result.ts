import { createContext, Script } from 'node:vm';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { AppError } from '../common/app-error.js';
import { isJsonObject, type Json } from '../common/json.js';
import { sentenceOf, unfenced, type AnswerCheckResult } from './answer-check.js';

const MAX_SCHEMA_BYTES = 16 * 1024;
const DIALECT = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;
/** Keywords whose values are data: what looks like a reference in them is none. */
const DATA_KEYWORDS: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);
/** Long enough for any honest schema; a regular expression that runs wild is stopped. */
const CHECK_MS = 1000;

const compiled = new WeakMap<object, ValidateFunction>();

/**
 * Checks a caller's `response_schema`: JSON schema 2020-12, at most 16 KiB, complete in itself.
 * @throws AppError `INVALID_BODY` naming the problem
 */
export function checkResponseSchema(schema: object): void {
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  if (bytes > MAX_SCHEMA_BYTES) throw invalid(`has at most ${MAX_SCHEMA_BYTES} bytes, got ${bytes}`);
  const named = (schema as { $schema?: unknown }).$schema;
  if (named !== undefined && !(typeof named === 'string' && DIALECT.test(named))) {
    throw invalid('must be of the dialect https://json-schema.org/draft/2020-12/schema');
  }
  const keyword = forbiddenKeyword(schema);
  if (keyword !== undefined) throw invalid(keyword);
  validatorOf(schema);
}

/**
 * Reads a model's answer as JSON of the caller's schema; a Markdown fence around it is forgiven.
 * @param schema one that `checkResponseSchema` accepted
 */
export function checkSchemaResult(text: string, schema: object): AnswerCheckResult<Json> {
  let data: Json;
  try {
    data = JSON.parse(unfenced(text)) as Json;
  } catch {
    return { ok: false, problem: 'the answer is not valid JSON; answer with the JSON value alone' };
  }
  const validate = validatorOf(schema);
  try {
    if (inTime(() => validate(data))) return { ok: true, data };
  } catch {
    return { ok: false, problem: 'the answer could not be checked against the schema in time' };
  }
  return { ok: false, problem: sentenceOf(validate.errors) };
}

function validatorOf(schema: object): ValidateFunction {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  try {
    const validate = inTime(() => compile(schema));
    compiled.set(schema, validate);
    return validate;
  } catch (error) {
    throw invalid(`is not a valid schema: ${error instanceof Error ? error.message.slice(0, 300) : ''}`, error);
  }
}

/** Knows the dialect itself, which costs tens of milliseconds to learn, and no caller's schema. */
const dialect = new Ajv2020({ strict: false, logger: false });

function compile(schema: object): ValidateFunction {
  if (dialect.validateSchema(schema) !== true) throw new Error(sentenceOf(dialect.errors));
  // one validator of its own for each schema: ids of one caller's schema must not meet another's
  const own = new Ajv2020({ strict: false, allErrors: true, logger: false, meta: false, validateSchema: false });
  formats.default(own);
  return own.compile(schema);
}

/** The first thing in a schema that leads outside or turns the check into something else. */
function forbiddenKeyword(node: unknown): string | undefined {
  if (Array.isArray(node)) return firstOf(node);
  if (!isJsonObject(node)) return undefined;
  if ('$async' in node) return 'must not use $async';
  for (const keyword of ['$ref', '$dynamicRef'] as const) {
    const reference = node[keyword];
    if (typeof reference === 'string' && !reference.startsWith('#')) {
      return `may refer to its own parts only (#/…), got ${keyword} to another document`;
    }
  }
  return firstOf(Object.entries(node).flatMap(([key, value]) => (DATA_KEYWORDS.has(key) ? [] : [value])));
}

function firstOf(nodes: readonly unknown[]): string | undefined {
  for (const node of nodes) {
    const found = forbiddenKeyword(node);
    if (found !== undefined) return found;
  }
  return undefined;
}

const script = new Script('work()');

/** Runs the work; the time limit also stops what a regular expression of the schema does. */
function inTime<T>(work: () => T): T {
  return script.runInContext(createContext({ work }), { timeout: CHECK_MS }) as T;
}

function invalid(problem: string, cause?: unknown): AppError {
  return new AppError('INVALID_BODY', `response_schema ${problem}`, { cause });
}
