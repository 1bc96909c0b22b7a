import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { AppError } from '../../common/app-error.js';
import type { Reason } from '../../common/reasons.js';
import { DialectErrors, type HttpFailure } from '../http/dialect-errors.js';

/** Reasons that another wire has words for and `/v1` has not. */
const HERE_CALLED: Partial<Record<Reason, Reason>> = {
  SESSION_EXISTS: 'FORBIDDEN',
  ORIGIN_FORBIDDEN: 'FORBIDDEN',
  SUBJECT_MISMATCH: 'FORBIDDEN',
  ROUTE_FORBIDDEN: 'FORBIDDEN',
  LENGTH_REQUIRED: 'INVALID_BODY',
  OVERRIDE_FORBIDDEN: 'INVALID_BODY',
};

const requestIds = new WeakMap<FastifyRequest, string>();

/** Keeps the `request_id` of a body, so that an error of this call can name it. */
export function rememberRequestId(request: FastifyRequest, requestId: unknown): void {
  if (typeof requestId === 'string' && requestId.length <= 128) requestIds.set(request, requestId);
}

/** The errors of `/v1`: `{"error": {code, message, trace_id, retryable, …}}`. */
@Injectable()
export class RestErrors extends DialectErrors {
  owns(path: string): boolean {
    return path === '/v1' || path.startsWith('/v1/');
  }

  toFailure(error: AppError, request: FastifyRequest): HttpFailure {
    const requestId = requestIds.get(request);
    const retryAfterMs = error.retryAfterMs;
    return {
      status: error.http,
      headers: {
        ...(error.http === 401 && { 'www-authenticate': 'Bearer' }),
        ...(retryAfterMs !== undefined && { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) }),
      },
      body: {
        error: {
          code: HERE_CALLED[error.reason] ?? error.reason,
          message: error.message,
          trace_id: request.id,
          retryable: error.retryable,
          ...(requestId !== undefined && { request_id: requestId }),
          ...(retryAfterMs !== undefined && { retry_after_ms: retryAfterMs }),
          ...(error.details && { details: error.details }),
        },
      },
    };
  }
}
