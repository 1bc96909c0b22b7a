import { AppError } from '../../src/common/app-error.js';
import { REASONS, type Reason } from '../../src/common/reasons.js';

describe('AppError', () => {
  it.each(Object.keys(REASONS) as Reason[])('%s has its status on every door', (reason) => {
    const error = new AppError(reason, 'm');
    const { status, http, retryable } = REASONS[reason];
    expect([error.code, error.http, error.retryable]).toEqual([status, http, retryable]);
    expect(error.http).toBeGreaterThanOrEqual(400);
  });

  it('names what was not found', () => {
    expect(AppError.notFound('session', 's1')).toMatchObject({
      reason: 'SESSION_NOT_FOUND',
      http: 404,
      message: 'session s1 not found',
    });
  });

  it('stays itself, and hides whatever else was thrown behind a safe text', () => {
    const own = new AppError('QUEUE_FULL', 'm', { retryAfterMs: 5, details: { a: 1 } });
    expect(AppError.from(own)).toBe(own);
    const cause = new Error('password=secret');
    const wrapped = AppError.from(cause, 'internal error, run r1');
    expect(wrapped).toMatchObject({ reason: 'INTERNAL', message: 'internal error, run r1', cause });
    expect(AppError.from('text').message).toBe('internal error');
  });
});
