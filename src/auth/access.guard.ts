import type { Metadata } from '@grpc/grpc-js';
import { Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import passport from 'passport';
import { AppError } from '../common/app-error.js';
import { PUBLIC_ROUTE, type PublicRoute } from '../common/public-route.js';
import { Config } from '../config/config.js';
import { isLoopbackHost } from '../config/loopback.js';
import { BearerStrategy } from './bearer.strategy.js';
import { headersOf, keepPrincipal } from './grpc-principal.js';
import type { Principal } from './principal.js';

let strategies = 0;

/** Passport's registry is one for the process; an application of its own keeps its keys to itself. */
function register(strategy: BearerStrategy): string {
  const name = `bearer-${(strategies += 1)}`;
  passport.use(name, strategy);
  return name;
}

/** The one guard of all doors. It runs before a byte of the body is read. */
@Injectable()
export class AccessGuard extends AuthGuard() {
  private readonly isOnLoopback: boolean;

  constructor(
    strategy: BearerStrategy,
    private readonly reflector: Reflector,
    config: Config,
  ) {
    super({ defaultStrategy: register(strategy) });
    this.isOnLoopback = isLoopbackHost(config.server.host);
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const publicRoute = this.reflector.getAllAndOverride<PublicRoute | undefined>(PUBLIC_ROUTE, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (publicRoute === 'always' || (publicRoute === 'on-loopback' && this.isOnLoopback)) return true;
    return (await super.canActivate(context)) as boolean;
  }

  override getRequest(context: ExecutionContext): object {
    if (context.getType() !== 'rpc') return context.switchToHttp().getRequest<object>();
    return callAsRequest(context.switchToRpc().getContext<Metadata>());
  }

  override handleRequest<Found>(error: unknown, found: Found | false): Found {
    if (error) throw AppError.from(error);
    if (!found) throw new AppError('UNAUTHENTICATED', 'a key is needed');
    return found;
  }
}

/** A gRPC call in the shape of a request: passport reads its headers and writes its user. */
function callAsRequest(metadata: Metadata): object {
  return {
    headers: headersOf(metadata),
    set user(principal: Principal) {
      keepPrincipal(metadata, principal);
    },
  };
}
