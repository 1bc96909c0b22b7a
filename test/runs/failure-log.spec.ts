import { AppError } from '../../src/common/app-error.js';
import { FailureLog } from '../../src/runs/failure-log.js';
import { CollectingLogger } from '../support/http-app.js';

describe('FailureLog', () => {
  let logger: CollectingLogger;
  let nowMs: number;
  let failures: FailureLog;
  const away = (): AppError => new AppError('STORE_UNAVAILABLE', 'the database does not answer');

  beforeEach(() => {
    logger = new CollectingLogger();
    nowMs = 0;
    failures = new FailureLog(logger, 'rows could not be read', () => nowMs);
  });

  it('tells of an outage at its start and at its end', () => {
    const first = away();
    failures.worked();
    failures.failed(first);
    failures.failed(away());
    failures.failed(away());
    nowMs = 1234.5;
    failures.worked();
    failures.worked();
    expect(logger.lines).toEqual([
      { level: 'warn', message: 'rows could not be read', fields: { error: first } },
      { level: 'info', message: 'over: rows could not be read', fields: { tries: 3, outageMs: 1235 } },
    ]);
  });

  it('tells of another kind of failure in the middle of one, and of a new outage', () => {
    for (const error of [away(), new Error('a bug'), new Error('a bug'), away()]) failures.failed(error);
    expect(logger.lines.map(({ level }) => level)).toEqual(['warn', 'warn', 'warn']);
    failures.worked();
    failures.failed('a bare text');
    expect(logger.lines.map(({ level }) => level)).toEqual(['warn', 'warn', 'warn', 'info', 'warn']);
  });
});
