import { status as Status } from '@grpc/grpc-js';
import { AppError } from '../../../src/common/app-error.js';
import { REASONS, type Reason } from '../../../src/common/reasons.js';
import { toGrpcFailure } from '../../../src/transport/grpc/grpc.errors.js';
import { nameStatus } from '../../../src/transport/grpc/status-names.js';

/** The table of the contract, one line a status. */
const TABLE: Partial<Record<keyof typeof Status, readonly Reason[]>> = {
  INVALID_ARGUMENT: [
    'INVALID_BODY',
    'ID_INVALID',
    'REQUEST_ID_REQUIRED',
    'CURSOR_INVALID',
    'TIME_ZONE_INVALID',
    'RESOURCE_INVALID',
    'IMAGE_UNREADABLE',
  ],
  UNAUTHENTICATED: ['UNAUTHENTICATED', 'TICKET_INVALID'],
  PERMISSION_DENIED: ['FORBIDDEN', 'CAPABILITY_NOT_ENABLED'],
  NOT_FOUND: [
    'SESSION_NOT_FOUND',
    'RUN_NOT_FOUND',
    'AGENT_NOT_FOUND',
    'RESOURCE_NOT_FOUND',
    'ARTIFACT_NOT_FOUND',
    'REQUEST_NOT_FOUND',
    'ROUTE_NOT_FOUND',
    'SESSION_CLOSED',
  ],
  UNIMPLEMENTED: ['METHOD_NOT_ALLOWED', 'NOT_ACCEPTABLE', 'UNSUPPORTED_MEDIA_TYPE', 'NOT_IMPLEMENTED'],
  DEADLINE_EXCEEDED: ['REQUEST_TIMEOUT'],
  ABORTED: ['SESSION_BUSY'],
  FAILED_PRECONDITION: ['RUN_NOT_ACTIVE', 'REQUEST_ID_CONFLICT', 'RESOURCE_CONFLICT', 'CURSOR_AHEAD'],
  OUT_OF_RANGE: ['CURSOR_EXPIRED'],
  RESOURCE_EXHAUSTED: [
    'BODY_TOO_LARGE',
    'IMAGE_TOO_LARGE',
    'RATE_LIMITED',
    'QUEUE_FULL',
    'TOO_MANY_STREAMS',
    'QUOTA_EXCEEDED',
  ],
  INTERNAL: ['INTERNAL'],
  UNAVAILABLE: ['STORE_UNAVAILABLE', 'DRAINING', 'IDENTITY_UNAVAILABLE'],
};

describe('the status of an error', () => {
  it.each(Object.entries(TABLE).flatMap(([status, reasons]) => reasons.map((reason) => [reason, status] as const)))(
    '%s is %s, named in the message and the trailer',
    (reason, status) => {
      const failure = toGrpcFailure(new AppError(reason, 'why'));
      expect({
        code: Status[failure.code],
        details: failure.details,
        trailer: failure.metadata.get('bridle-code'),
      }).toEqual({ code: status, details: `${reason}: why`, trailer: [reason] });
    },
  );

  it('is known for every reason and never UNKNOWN or OK', () => {
    for (const reason of Object.keys(REASONS) as Reason[]) {
      const { code } = toGrpcFailure(new AppError(reason, 'why'));
      expect(Status[code]).toBeDefined();
      expect([Status.OK, Status.UNKNOWN]).not.toContain(code);
    }
  });

  it.each([
    ['SESSION_EXISTS', 'FORBIDDEN', Status.PERMISSION_DENIED],
    ['ORIGIN_FORBIDDEN', 'FORBIDDEN', Status.PERMISSION_DENIED],
    ['SUBJECT_MISMATCH', 'FORBIDDEN', Status.PERMISSION_DENIED],
    ['ROUTE_FORBIDDEN', 'FORBIDDEN', Status.PERMISSION_DENIED],
    ['LENGTH_REQUIRED', 'INVALID_BODY', Status.INVALID_ARGUMENT],
    ['OVERRIDE_FORBIDDEN', 'INVALID_BODY', Status.INVALID_ARGUMENT],
  ] as const)('says %s, a word of another wire, as %s', (reason, shown, code) => {
    const failure = toGrpcFailure(new AppError(reason, 'why'));
    expect([failure.code, failure.metadata.get('bridle-code')]).toEqual([code, [shown]]);
  });

  it('carries when to try again', () => {
    const { metadata } = toGrpcFailure(new AppError('QUEUE_FULL', 'full', { retryAfterMs: 1500 }));
    expect(metadata.get('bridle-retry-after-ms')).toEqual(['1500']);
  });
});

describe('a status that the transport made', () => {
  it.each([
    [Status.RESOURCE_EXHAUSTED, 'Received message larger than max', Status.RESOURCE_EXHAUSTED, 'BODY_TOO_LARGE'],
    [Status.INTERNAL, 'Error deserializing request', Status.INVALID_ARGUMENT, 'INVALID_BODY'],
    [Status.INTERNAL, 'Failed to decompress message', Status.INVALID_ARGUMENT, 'INVALID_BODY'],
    [Status.INTERNAL, 'secret of the inside', Status.INTERNAL, 'INTERNAL'],
    [Status.UNKNOWN, 'secret of the inside', Status.INTERNAL, 'INTERNAL'],
    [Status.UNIMPLEMENTED, 'Received message compressed', Status.UNIMPLEMENTED, 'NOT_IMPLEMENTED'],
  ])('%i "%s" becomes %i %s', (code, details, expected, reason) => {
    const named = nameStatus({ code, details });
    expect([named.code, named.metadata?.get('bridle-code')]).toEqual([expected, [reason]]);
    expect(named.details).not.toContain('secret');
  });

  it.each([Status.OK, Status.CANCELLED, Status.DEADLINE_EXCEEDED, Status.NOT_FOUND])('%i stays as it is', (code) => {
    const status = { code, details: 'as it was' };
    expect(nameStatus(status)).toBe(status);
  });

  it('keeps the code that an error brought', () => {
    const failure = toGrpcFailure(new AppError('QUEUE_FULL', 'full'));
    expect(nameStatus(failure)).toBe(failure);
  });
});
