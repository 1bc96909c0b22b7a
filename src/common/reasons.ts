/** The gRPC status names that an error may carry. */
export type StatusName =
  | 'INVALID_ARGUMENT'
  | 'UNAUTHENTICATED'
  | 'PERMISSION_DENIED'
  | 'NOT_FOUND'
  | 'UNIMPLEMENTED'
  | 'DEADLINE_EXCEEDED'
  | 'ABORTED'
  | 'FAILED_PRECONDITION'
  | 'OUT_OF_RANGE'
  | 'RESOURCE_EXHAUSTED'
  | 'INTERNAL'
  | 'UNAVAILABLE';

interface ReasonFacts {
  readonly status: StatusName;
  /** HTTP status on `/v1`. */
  readonly http: number;
  readonly retryable: boolean;
}

const facts = (status: StatusName, http: number, retryable = false): ReasonFacts => ({ status, http, retryable });

/**
 * Every reason an error of Bridle can have: the `code` of a `/v1` error body, the `bridle-code` of gRPC
 * and the `code` of a failed run.
 */
export const REASONS = {
  INVALID_BODY: facts('INVALID_ARGUMENT', 400),
  ID_INVALID: facts('INVALID_ARGUMENT', 400),
  REQUEST_ID_REQUIRED: facts('INVALID_ARGUMENT', 400),
  CURSOR_INVALID: facts('INVALID_ARGUMENT', 400),
  TIME_ZONE_INVALID: facts('INVALID_ARGUMENT', 400),
  RESOURCE_INVALID: facts('INVALID_ARGUMENT', 400),
  UNAUTHENTICATED: facts('UNAUTHENTICATED', 401),
  TICKET_INVALID: facts('UNAUTHENTICATED', 401),
  FORBIDDEN: facts('PERMISSION_DENIED', 403),
  CAPABILITY_NOT_ENABLED: facts('PERMISSION_DENIED', 403),
  SESSION_NOT_FOUND: facts('NOT_FOUND', 404),
  RUN_NOT_FOUND: facts('NOT_FOUND', 404),
  AGENT_NOT_FOUND: facts('NOT_FOUND', 404),
  RESOURCE_NOT_FOUND: facts('NOT_FOUND', 404),
  ARTIFACT_NOT_FOUND: facts('NOT_FOUND', 404),
  REQUEST_NOT_FOUND: facts('NOT_FOUND', 404),
  ROUTE_NOT_FOUND: facts('NOT_FOUND', 404),
  METHOD_NOT_ALLOWED: facts('UNIMPLEMENTED', 405),
  NOT_ACCEPTABLE: facts('UNIMPLEMENTED', 406),
  UNSUPPORTED_MEDIA_TYPE: facts('UNIMPLEMENTED', 415),
  REQUEST_TIMEOUT: facts('DEADLINE_EXCEEDED', 408, true),
  SESSION_BUSY: facts('ABORTED', 409, true),
  RUN_NOT_ACTIVE: facts('FAILED_PRECONDITION', 409),
  REQUEST_ID_CONFLICT: facts('FAILED_PRECONDITION', 409),
  RESOURCE_CONFLICT: facts('FAILED_PRECONDITION', 409),
  CURSOR_AHEAD: facts('FAILED_PRECONDITION', 409),
  CURSOR_EXPIRED: facts('OUT_OF_RANGE', 410),
  SESSION_CLOSED: facts('NOT_FOUND', 410),
  BODY_TOO_LARGE: facts('RESOURCE_EXHAUSTED', 413),
  IMAGE_TOO_LARGE: facts('RESOURCE_EXHAUSTED', 413),
  IMAGE_UNREADABLE: facts('INVALID_ARGUMENT', 422),
  RATE_LIMITED: facts('RESOURCE_EXHAUSTED', 429, true),
  QUEUE_FULL: facts('RESOURCE_EXHAUSTED', 429, true),
  TOO_MANY_STREAMS: facts('RESOURCE_EXHAUSTED', 429, true),
  QUOTA_EXCEEDED: facts('RESOURCE_EXHAUSTED', 429, true),
  INTERNAL: facts('INTERNAL', 500),
  NOT_IMPLEMENTED: facts('UNIMPLEMENTED', 501),
  STORE_UNAVAILABLE: facts('UNAVAILABLE', 503, true),
  DRAINING: facts('UNAVAILABLE', 503, true),
  IDENTITY_UNAVAILABLE: facts('UNAVAILABLE', 503, true),

  // Only ADK shows these; elsewhere they are FORBIDDEN or INVALID_BODY.
  SESSION_EXISTS: facts('FAILED_PRECONDITION', 409),
  ORIGIN_FORBIDDEN: facts('PERMISSION_DENIED', 403),
  LENGTH_REQUIRED: facts('INVALID_ARGUMENT', 411),
  SUBJECT_MISMATCH: facts('PERMISSION_DENIED', 403),
  ROUTE_FORBIDDEN: facts('PERMISSION_DENIED', 403),
  OVERRIDE_FORBIDDEN: facts('INVALID_ARGUMENT', 400),

  // Only the `error` of a run shows these.
  AGENT_ERROR: facts('INTERNAL', 500),
  WORKER_LOST: facts('INTERNAL', 500, true),
  RESULT_INVALID: facts('INTERNAL', 500),
  TURN_LIMIT: facts('INTERNAL', 500),
  BUDGET_EXCEEDED: facts('INTERNAL', 500),
  LOOP_DETECTED: facts('INTERNAL', 500),
  EMPTY_ANSWER: facts('INTERNAL', 500),
  PROVIDER_ERROR: facts('UNAVAILABLE', 500, true),
  MODEL_LACKS_VISION: facts('INTERNAL', 500),
  MCP_SERVER_UNAVAILABLE: facts('UNAVAILABLE', 500, true),
  IMAGE_UNREACHABLE: facts('INTERNAL', 500, true),
  QUESTION_EXPIRED: facts('INTERNAL', 500),
  RUN_TTL_EXCEEDED: facts('INTERNAL', 500),
} as const satisfies Record<string, ReasonFacts>;

/** The closed union of reasons. */
export type Reason = keyof typeof REASONS;
