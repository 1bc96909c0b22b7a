import { Catch, type ArgumentsHost, type RpcExceptionFilter } from '@nestjs/common';
import { Metadata, status as Status, type ServerUnaryCall } from '@grpc/grpc-js';
import { throwError, type Observable } from 'rxjs';
import { AppError } from '../../common/app-error.js';
import { REASONS, type Reason } from '../../common/reasons.js';
import { Logger } from '../../observability/logger.js';
import { traceIdFrom } from '../../observability/trace-id.js';

/** Trailer with the machine key of an error, the same as `error.code` on `/v1`. */
export const CODE_TRAILER = 'bridle-code';
/** Trailer with the milliseconds after which a repetition makes sense. */
const RETRY_TRAILER = 'bridle-retry-after-ms';

/** How a call ends that failed. */
export interface GrpcFailure {
  readonly code: Status;
  readonly details: string;
  readonly message: string;
  readonly metadata: Metadata;
}

/** Reasons that belong to another wire, as this one says them. */
const FOREIGN: Partial<Record<Reason, Reason>> = {
  LENGTH_REQUIRED: 'INVALID_BODY',
  OVERRIDE_FORBIDDEN: 'INVALID_BODY',
  SESSION_EXISTS: 'FORBIDDEN',
  ORIGIN_FORBIDDEN: 'FORBIDDEN',
  SUBJECT_MISMATCH: 'FORBIDDEN',
  ROUTE_FORBIDDEN: 'FORBIDDEN',
};

/** The status of an error: `CODE: text`, with the code in a trailer too. Total over every reason, never UNKNOWN. */
export function toGrpcFailure(error: AppError): GrpcFailure {
  const reason = FOREIGN[error.reason] ?? error.reason;
  const metadata = new Metadata();
  metadata.set(CODE_TRAILER, reason);
  if (error.retryAfterMs !== undefined) metadata.set(RETRY_TRAILER, String(error.retryAfterMs));
  const text = `${reason}: ${error.message}`;
  return { code: Status[REASONS[reason].status], details: text, message: text, metadata };
}

/** Says every error of a call as a gRPC status; what is not an AppError says nothing of its inside. */
@Catch()
export class GrpcErrorFilter implements RpcExceptionFilter<unknown> {
  constructor(private readonly logger: Logger) {}

  catch(error: unknown, host: ArgumentsHost): Observable<never> {
    const failure = AppError.from(error);
    const { reason } = failure;
    if (reason === 'INTERNAL' || reason === 'STORE_UNAVAILABLE') {
      const call = host.getArgByIndex<ServerUnaryCall<unknown, unknown> | undefined>(2);
      const traceId = traceIdFrom(call?.metadata.get('traceparent')[0]);
      this.logger[reason === 'INTERNAL' ? 'error' : 'warn']('call failed', { traceId, method: call?.getPath(), error });
    }
    return throwError(() => toGrpcFailure(failure));
  }
}
