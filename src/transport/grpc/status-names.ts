import { Metadata, ServerInterceptingCall, status as Status, type ServerInterceptor } from '@grpc/grpc-js';
import type { PartialStatusObject } from '@grpc/grpc-js/build/src/call-interface.js';
import { AppError } from '../../common/app-error.js';
import { CODE_TRAILER, toGrpcFailure } from './grpc.errors.js';

/**
 * What the transport itself refuses, in our words: it knows no codes, and calls bytes that are no message
 * INTERNAL. A status that has its code, and one that is no error of ours, stays as it is.
 */
export function nameStatus(status: PartialStatusObject): PartialStatusObject {
  if (status.metadata instanceof Metadata && status.metadata.get(CODE_TRAILER).length > 0) return status;
  const error = errorOf(status.code, status.details ?? '');
  return error === undefined ? status : toGrpcFailure(error);
}

function errorOf(code: Status, details: string): AppError | undefined {
  switch (code) {
    case Status.RESOURCE_EXHAUSTED:
      return new AppError('BODY_TOO_LARGE', 'the message is larger than the server accepts');
    case Status.INTERNAL:
      return /deserializing|decompress/i.test(details)
        ? new AppError('INVALID_BODY', 'the bytes of the request are not a message of this method')
        : new AppError('INTERNAL', 'internal error');
    case Status.UNIMPLEMENTED:
      return new AppError('NOT_IMPLEMENTED', 'the method or the compression is not available');
    case Status.UNKNOWN:
      return new AppError('INTERNAL', 'internal error');
    default:
      return undefined;
  }
}

/**
 * Gives every status of every call its code. The transport ends a call on its own before any interceptor hears of
 * it, so the method it calls for that is replaced on this one call.
 */
export const statusNames: ServerInterceptor = (_method, call) => {
  const sendStatus = call.sendStatus.bind(call);
  call.sendStatus = (status) => sendStatus(nameStatus(status));
  return new ServerInterceptingCall(call);
};
