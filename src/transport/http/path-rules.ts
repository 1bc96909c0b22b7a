import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../common/app-error.js';

/** Longest ids, in characters. */
export const ID_LENGTH = { app: 128, user: 256, session: 256, request: 128, reference: 128 } as const;

const CONTROL = /\p{Cc}/u;
const OUTER_WHITE_SPACE = /^\s|\s$/u;

/**
 * What is wrong with an id, as the end of the sentence `<name> must …`; undefined when nothing is.
 * @param maxLength in characters
 */
export function idProblem(value: string, maxLength: number): string | undefined {
  if (value === '') return 'not be empty';
  if (CONTROL.test(value)) return 'not hold control characters';
  if (OUTER_WHITE_SPACE.test(value)) return 'not begin or end with white space';
  return lengthProblem(value, maxLength);
}

/**
 * Refuses path parameters that no id can be: `/` and `\` as an unknown route, control characters and over-long
 * ones as `ID_INVALID`. White space is the dialect's affair, because one of them trims it.
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
  const problem = CONTROL.test(value) ? 'not hold control characters' : lengthProblem(value, ID_LENGTH.session);
  if (problem !== undefined) throw new AppError('ID_INVALID', `${name} must ${problem}`);
}

function lengthProblem(value: string, maxLength: number): string | undefined {
  // Two code units may be one character, so count only what could be too long.
  if (value.length <= maxLength || [...value].length <= maxLength) return undefined;
  return `have at most ${maxLength} characters`;
}
