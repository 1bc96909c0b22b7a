import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { map, type Observable } from 'rxjs';

/** Sends what a handler returns as JSON in the peer's way: 200, no charset, `null` as a body too. */
@Injectable()
export class AdkJson implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<string> {
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    return next.handle().pipe(
      map((value) => {
        void reply.code(200).header('content-type', 'application/json').serializer(String);
        return JSON.stringify(value ?? null);
      }),
    );
  }
}
