import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { isJsonObject, type JsonObject } from '../../common/json.js';
import { Config } from '../../config/config.js';
import { readAdkBody, type AdkBody } from './adk-json.js';
import { refuse, toIssue } from './validation/issue.js';
import { map } from './validation/kinds.js';
import { validateBody } from './validation/validate.js';

/** Reads the bodies of ADK requests. */
@Injectable()
export class AdkBodies {
  constructor(private readonly config: Config) {}

  /** @throws AdkRefusal */
  read(request: FastifyRequest): AdkBody {
    const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const { maxJsonDepth: maxDepth, maxJsonKeys: maxKeys } = this.config.http;
    return readAdkBody(bytes, request.headers['content-type'], { maxDepth, maxKeys });
  }

  /**
   * A body that must be there, as its model.
   * @throws AdkRefusal
   */
  model<Model extends object>(request: FastifyRequest, model: new () => Model): Model {
    return validateBody(model, this.read(request));
  }

  /**
   * A free-form object; nothing is an empty one.
   * @throws AdkRefusal
   */
  map(request: FastifyRequest): JsonObject {
    const body = this.read(request);
    if (body.kind === 'missing') return {};
    const value = body.kind === 'text' ? body.text : body.value;
    if (isJsonObject(value)) return value;
    const verdict = map(value);
    throw refuse('fault' in verdict ? [toIssue(verdict.fault, ['body'], value)] : []);
  }
}
