import { ServerInterceptingCall, type ServerInterceptor } from '@grpc/grpc-js';
import type { CallAccess } from '../../auth/call-access.service.js';
import { AppError } from '../../common/app-error.js';
import { toGrpcFailure } from './grpc.errors.js';

const HEALTH = '/grpc.health.v1.Health/';
const REFLECTION = '/grpc.reflection.';

/**
 * Refuses a call without a valid key as soon as its headers are there. The guard sees a call only after its whole
 * message is in memory, and whoever has no key must not fill that.
 * @param isOnLoopback reflection, like the documentation, is open then; health always is
 */
export function earlyAuth(access: CallAccess, isOnLoopback: boolean): ServerInterceptor {
  return (method, call) => {
    const isOpen = method.path.startsWith(HEALTH) || (isOnLoopback && method.path.startsWith(REFLECTION));
    if (isOpen) return new ServerInterceptingCall(call);
    return new ServerInterceptingCall(call, {
      start: (next) => {
        next({
          onReceiveMetadata: (metadata, pass) => {
            try {
              access.check(metadata);
            } catch (error) {
              call.sendStatus(toGrpcFailure(AppError.from(error)));
              return;
            }
            pass(metadata);
          },
        });
      },
    });
  };
}
