import type { FastifyRequest } from 'fastify';
import type { AppError } from '../../common/app-error.js';

/** What goes over HTTP for an error. */
export interface HttpFailure {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, unless `contentType` says that it is a text. */
  readonly body: unknown;
  readonly contentType?: string;
}

/** How one dialect says an error. Each dialect registers one; the error filter asks the owner of the path. */
export abstract class DialectErrors {
  /** True when the path (without query) belongs to this dialect. */
  abstract owns(path: string): boolean;
  /** Total over every reason. */
  abstract toFailure(error: AppError, request: FastifyRequest): HttpFailure;
}

/** Injection token of every dialect's errors, `readonly DialectErrors[]`; the first that owns a path answers it. */
export const DIALECT_ERRORS = Symbol('DIALECT_ERRORS');
