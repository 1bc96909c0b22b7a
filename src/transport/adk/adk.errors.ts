import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { AppError } from '../../common/app-error.js';
import { DialectErrors, type HttpFailure } from '../http/dialect-errors.js';
import { AdkRefusal } from './adk-refusal.js';

/** JSON without a charset, as the peer sends it. */
const JSON_TYPE = 'application/json';

/** Says errors as FastAPI does, on every path that is not `/v1`. */
@Injectable()
export class AdkErrors extends DialectErrors {
  owns(path: string): boolean {
    return path !== '/v1' && !path.startsWith('/v1/');
  }

  toFailure(error: AppError, request: FastifyRequest): HttpFailure {
    const { status, body, headers, contentType } = failureOf(error, request);
    if (contentType !== undefined) return { status, body, contentType, ...(headers && { headers }) };
    return {
      status,
      body: JSON.stringify(body),
      contentType: JSON_TYPE,
      headers: { ...retryAfter(error), ...headers },
    };
  }
}

const detail = (status: number, text: string): HttpFailure => ({ status, body: { detail: text } });

function failureOf(error: AppError, request: FastifyRequest): HttpFailure {
  if (error instanceof AdkRefusal) return error.failure;
  switch (error.reason) {
    case 'ROUTE_NOT_FOUND':
    case 'ID_INVALID':
      return detail(404, 'Not Found');
    case 'METHOD_NOT_ALLOWED':
      return detail(405, 'Method Not Allowed');
    case 'SESSION_NOT_FOUND':
    case 'SESSION_CLOSED':
      return detail(404, 'Session not found');
    case 'UNAUTHENTICATED':
    case 'TICKET_INVALID':
      return { status: 401, body: { error: 'AUTH_REQUIRED' }, headers: { 'www-authenticate': 'Bearer' } };
    case 'IDENTITY_UNAVAILABLE':
      return { status: 503, body: { error: 'IDENTITY_UNAVAILABLE' } };
    case 'SUBJECT_MISMATCH':
      return { status: 403, body: { error: 'SUBJECT_MISMATCH' } };
    case 'ROUTE_FORBIDDEN':
      return { status: 403, body: { error: 'ROUTE_NOT_IDENTITY_BOUND' } };
    case 'LENGTH_REQUIRED':
      return { status: 411, body: { error: 'CONTENT_LENGTH_REQUIRED' } };
    case 'OVERRIDE_FORBIDDEN':
      return { status: 400, body: { error: 'ONLY_MCP_OVERRIDE_ALLOWED' } };
    case 'ORIGIN_FORBIDDEN':
      return { status: 403, body: 'Forbidden: origin not allowed', contentType: 'text/plain' };
    case 'INTERNAL':
      return detail(500, `internal error, trace ${request.id}`);
    default:
      return detail(error.http, error.message);
  }
}

function retryAfter({ retryAfterMs }: AppError): Record<string, string> {
  return retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) };
}
