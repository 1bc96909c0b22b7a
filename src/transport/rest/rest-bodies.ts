import { Injectable } from '@nestjs/common';
import { validateSync, type ValidationError } from 'class-validator';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../common/app-error.js';
import { isJsonObject, type Json, type JsonObject } from '../../common/json.js';
import { Config } from '../../config/config.js';
import { parseJson } from '../http/json-body.js';
import { REQUIRED, type RuleContext } from './field-rules.js';
import { rememberRequestId } from './rest.errors.js';

/** Reads the JSON bodies of `/v1`. */
@Injectable()
export class RestBodies {
  constructor(private readonly config: Config) {}

  /**
   * The body as a JSON object.
   * @throws AppError `UNSUPPORTED_MEDIA_TYPE` or `INVALID_BODY`
   */
  read(request: FastifyRequest): JsonObject {
    const type = request.headers['content-type'];
    if (type !== undefined && !/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type)) {
      throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'the body must be application/json');
    }
    const { maxJsonDepth, maxJsonKeys } = this.config.http;
    const body = parseJson(request.body as Buffer | undefined, { maxDepth: maxJsonDepth, maxKeys: maxJsonKeys });
    if (!isJsonObject(body)) throw new AppError('INVALID_BODY', 'the body must be a JSON object');
    rememberRequestId(request, body['request_id']);
    return body;
  }

  /** The body as a checked DTO. */
  readAs<T extends object>(request: FastifyRequest, dto: DtoClass<T>): T {
    return toDto(dto, this.read(request));
  }
}

/** A class of checked fields; `lists` names those that hold a list of objects, with the class of each. */
export type DtoClass<T extends object> = (new () => T) & {
  readonly lists?: Readonly<Record<string, DtoClass<object>>>;
};

/**
 * A JSON object as a checked DTO. Values are neither copied nor converted; a known field that is null counts as absent.
 * @throws AppError with the reason of the first broken rule; its message names the field
 */
export function toDto<T extends object>(dto: DtoClass<T>, body: JsonObject): T {
  const instance = fill(dto, body, '');
  const [first] = validateSync(instance, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false });
  if (first !== undefined) throw toAppError(first, '');
  dropNulls(dto, instance);
  return instance;
}

function dropNulls(dto: DtoClass<object>, instance: object): void {
  for (const [name, value] of Object.entries(instance)) {
    if (value === null) Reflect.deleteProperty(instance, name);
    const item = dto.lists?.[name];
    if (item !== undefined) (value as object[] | null)?.forEach((entry) => dropNulls(item, entry));
  }
}

function fill<T extends object>(dto: DtoClass<T>, body: JsonObject, path: string): T {
  const instance = new dto();
  for (const [name, value] of Object.entries(body)) {
    // `__proto__` and `constructor` would turn the instance into something else before any rule sees it.
    if (name in Object.prototype) throw unknownField(path + name);
    const item = dto.lists?.[name];
    const isList = item !== undefined && Array.isArray(value);
    Object.assign(instance, { [name]: isList ? fillAll(item, value as Json[], path + name) : value });
  }
  return instance;
}

function fillAll(dto: DtoClass<object>, values: readonly Json[], path: string): unknown[] {
  return values.map((value, index) => (isJsonObject(value) ? fill(dto, value, `${path}[${index}].`) : value));
}

function unknownField(field: string): AppError {
  return new AppError('INVALID_BODY', `unknown field ${JSON.stringify(field)}`, { details: { field } });
}

function toAppError(error: ValidationError, parent: string): AppError {
  const isIndex = /^\d+$/.test(error.property);
  const field = isIndex ? `${parent}[${error.property}]` : parent ? `${parent}.${error.property}` : error.property;
  const [child] = error.children ?? [];
  if (error.constraints === undefined && child !== undefined) return toAppError(child, field);
  const constraints = error.constraints ?? {};
  if ('whitelistValidation' in constraints) return unknownField(field);
  // Each rule speaks for itself; of several broken ones the absence of the field is the cause.
  const rule = REQUIRED in constraints ? REQUIRED : (Object.keys(constraints)[0] ?? '');
  const context = error.contexts?.[rule] as RuleContext | undefined;
  return new AppError(context?.reason ?? 'INVALID_BODY', `${field} ${constraints[rule]}`, { details: { field } });
}
