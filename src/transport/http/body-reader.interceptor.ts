import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { Config } from '../../config/config.js';
import { checkAnnouncedLength, hasBody, readBody, welcomeBody } from './request-body.js';

/** True for a form with files, which the handler reads part by part. */
export function isMultipart(request: FastifyRequest): boolean {
  return /^multipart\//i.test(request.headers['content-type'] ?? '');
}

/**
 * Puts the bytes of the body into `request.body` once the guards have let the caller in. They are not parsed:
 * each dialect has its own rules. A form (`multipart/…`) is left on the wire.
 */
@Injectable()
export class BodyReader implements NestInterceptor {
  constructor(private readonly config: Config) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    if (context.getType() === 'http') {
      const http = context.switchToHttp();
      await this.read(http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
    }
    return next.handle();
  }

  private async read(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (!hasBody(request.raw)) return;
    const { maxBodyBytes, bodyTimeoutMs } = this.config.http;
    checkAnnouncedLength(request.raw, maxBodyBytes);
    welcomeBody(request.raw, reply.raw);
    if (isMultipart(request)) return;
    request.body = await readBody(request.raw, { maxBytes: maxBodyBytes, timeoutMs: bodyTimeoutMs });
  }
}
