import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../common/app-error.js';
import { idProblem } from '../../common/id-rules.js';

const CONTROL = /\p{Cc}/u;

/**
 * Refuses path parameters that no id can be: `/` and `\` as an unknown route, control characters and over-long
 * ones as `ID_INVALID`. White space at the ends is the dialect's affair, because one of them trims it.
 */
@Injectable()
export class PathRules implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (context.getType() !== 'http') return true;
    const params = context.switchToHttp().getRequest<FastifyRequest>().params as Record<string, string> | null;
    for (const [name, value] of Object.entries(params ?? {})) if (name !== '*') checkParameter(name, value);
    return true;
  }
}

function checkParameter(name: string, value: string): void {
  if (/[/\\]/.test(value)) throw new AppError('ROUTE_NOT_FOUND', 'no such route');
  // Trimming takes line ends away too, so they are looked for first.
  const problem = CONTROL.test(value) ? 'must not contain control characters' : idProblem('session', value.trim());
  if (problem !== undefined) throw new AppError('ID_INVALID', `${name} ${problem}`);
}
