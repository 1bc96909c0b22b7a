import { Catch, Inject, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { throwError, type Observable } from 'rxjs';
import { AppError } from '../../common/app-error.js';
import { Logger } from '../../observability/logger.js';
import { DIALECT_ERRORS, type DialectErrors, type HttpFailure } from './dialect-errors.js';
import { lingerAfterAnswer } from './linger.js';
import { isUnread } from './request-body.js';
import { toAppError } from './to-app-error.js';

/** Says every error of the HTTP side in the words of the dialect that owns the path. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(
    @Inject(DIALECT_ERRORS) private readonly dialects: readonly DialectErrors[],
    private readonly logger: Logger,
  ) {}

  catch(error: unknown, host: ArgumentsHost): Observable<never> | void {
    // Errors of other transports have filters of their own.
    if (host.getType() !== 'http') return throwError(() => error);
    const http = host.switchToHttp();
    this.answer(error, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  }

  /** Answers a request with an error; when its response has begun, ends it instead. */
  answer(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const path = pathOf(request);
    const failure = this.withRoute(toAppError(error), request, path);
    const facts = { traceId: request.id, method: request.method, path, error };
    if (failure.reason === 'INTERNAL') this.logger.error('request failed', facts);
    if (failure.reason === 'STORE_UNAVAILABLE') this.logger.warn('request found no database', facts);
    if (reply.raw.headersSent || reply.raw.destroyed) {
      reply.raw.destroy();
      return;
    }
    const answer = this.failureOf(failure, request, path);
    const headers: Record<string, string> = { ...answer.headers };
    if (typeof failure.details?.['allow'] === 'string') headers['allow'] = failure.details['allow'];
    // What is left of the body would be read as the next request.
    if (isUnread(request.raw)) {
      headers['connection'] = 'close';
      lingerAfterAnswer(request.raw);
    }
    send(reply, answer, headers);
  }

  private failureOf(error: AppError, request: FastifyRequest, path: string): HttpFailure {
    const dialect = this.dialects.find((candidate) => candidate.owns(path));
    return dialect?.toFailure(error, request) ?? { status: error.http, body: { detail: error.message } };
  }

  /** An unknown route whose path exists under other methods is a wrong method. */
  private withRoute(error: AppError, request: FastifyRequest, path: string): AppError {
    // An id of a route that exists may be refused as an unknown route too.
    if (error.reason !== 'ROUTE_NOT_FOUND') return error;
    const methods = request.server.routeTable.methodsOf(path);
    if (methods.length === 0 || methods.includes(request.method)) return error;
    const allow = methods.join(', ');
    return new AppError('METHOD_NOT_ALLOWED', `${request.method} is not allowed here, use ${allow}`, {
      details: { allow },
    });
  }
}

function pathOf(request: FastifyRequest): string {
  return request.raw.url?.split('?', 1)[0] ?? '/';
}

function send(reply: FastifyReply, answer: HttpFailure, headers: Record<string, string>): void {
  const isText = answer.contentType !== undefined;
  headers['content-type'] = answer.contentType ?? 'application/json; charset=utf-8';
  const body = isText ? String(answer.body) : JSON.stringify(answer.body);
  if (reply.sent) {
    // Taken over by a handler that failed before its first byte.
    reply.raw.writeHead(answer.status, { ...reply.getHeaders(), ...headers } as Record<string, string>).end(body);
    return;
  }
  void reply.code(answer.status).headers(headers).serializer(String).send(body);
}
