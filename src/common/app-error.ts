import { REASONS, type Reason, type StatusName } from './reasons.js';

export interface AppErrorOptions {
  /** Facts for the caller, JSON only: `{ active_run_id: … }`, `{ last_id: … }`. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
  /** When a retry makes sense, in milliseconds. */
  readonly retryAfterMs?: number;
}

/**
 * The one error that leaves a service. Its message is safe for any client: it names the thing, says what was
 * wrong and what is accepted, and holds no secret, no user text and no internal host.
 */
export class AppError extends Error {
  readonly reason: Reason;
  /** gRPC status name. */
  readonly code: StatusName;
  /** HTTP status on `/v1`. */
  readonly http: number;
  readonly retryable: boolean;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(reason: Reason, message: string, options: AppErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'AppError';
    this.reason = reason;
    this.code = REASONS[reason].status;
    this.http = REASONS[reason].http;
    this.retryable = REASONS[reason].retryable;
    this.details = options.details;
    this.retryAfterMs = options.retryAfterMs;
  }

  /** `session s1 not found`. */
  static notFound(thing: 'session' | 'run' | 'agent' | 'resource' | 'artifact' | 'request', id: string): AppError {
    return new AppError(`${thing.toUpperCase() as Uppercase<typeof thing>}_NOT_FOUND`, `${thing} ${id} not found`);
  }

  /**
   * An AppError as it is; anything else becomes `INTERNAL` with the given safe text and keeps its cause.
   * @param safeText what a client may read, e.g. `internal error, run <id>`
   */
  static from(error: unknown, safeText = 'internal error'): AppError {
    return error instanceof AppError ? error : new AppError('INTERNAL', safeText, { cause: error });
  }
}

/** True when the database could not serve: repeating may help, and whether it kept the last change nobody knows. */
export function isStoreUnavailable(error: unknown): error is AppError {
  return error instanceof AppError && error.reason === 'STORE_UNAVAILABLE';
}
