import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../common/app-error.js';
import { Config } from '../../config/config.js';
import { isLoopbackHost } from '../../config/loopback.js';
import { originRule } from './cors.js';

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Keeps pages of other sites from driving a server that asks for no key: a foreign `Origin` may not change anything,
 * and a listener that only this machine reaches must be called by a name of this machine (DNS rebinding). With keys
 * there is nothing to do, because no browser sends one by itself.
 */
@Injectable()
export class OriginGuard implements CanActivate {
  /** Where a door is strict, with keys too. */
  protected readonly isNeeded: boolean;
  private readonly checksHost: boolean;
  private readonly ownHosts: ReadonlySet<string>;
  private readonly ownOrigin: string | undefined;
  private readonly isAllowed: (origin: string) => boolean;

  constructor({ auth, server, http }: Config) {
    this.isNeeded = auth.mode === 'none';
    // Behind a proxy the name is the proxy's.
    this.checksHost = isLoopbackHost(server.host) && http.trustProxy === false;
    this.ownHosts = new Set([server.host, hostnameOf(server.publicUrl ?? '')]);
    this.ownOrigin = server.publicUrl === undefined ? undefined : new URL(server.publicUrl).origin;
    this.isAllowed = originRule(http.allowOrigins);
  }

  /** @throws AppError `ORIGIN_FORBIDDEN` */
  canActivate(context: ExecutionContext): boolean {
    if (!this.isNeeded || context.getType() !== 'http') return true;
    const http = context.switchToHttp();
    if (this.isWelcome(http.getRequest<FastifyRequest>())) return true;
    // A refused page learns nothing, not even that credentials would be taken.
    void http.getResponse<FastifyReply>().removeHeader('access-control-allow-credentials').removeHeader('vary');
    throw new AppError('ORIGIN_FORBIDDEN', 'origin not allowed');
  }

  private isWelcome(request: FastifyRequest): boolean {
    if (this.checksHost && !this.isOwnHost(request.host)) return false;
    const { origin } = request.headers;
    if (origin === undefined || READING.has(request.method)) return true;
    const isSame = origin === `${request.protocol}://${request.host}` || origin === this.ownOrigin;
    return isSame || this.isAllowed(origin);
  }

  private isOwnHost(host: string): boolean {
    const name = hostnameOf(`http://${host}`);
    // Nobody outside can point a name without a dot anywhere.
    return isLoopbackHost(name) || this.ownHosts.has(name) || /^[\w-]+$/.test(name);
  }
}

function hostnameOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : '';
}
