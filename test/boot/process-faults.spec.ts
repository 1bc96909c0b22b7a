import { jest } from '@jest/globals';
import { ProcessFaults } from '../../src/boot/process-faults.js';
import { CollectingLogger } from '../support/http-app.js';

describe('ProcessFaults', () => {
  const boom = new Error('boom');
  let logger: CollectingLogger;
  let done: string[];
  let handBack: () => Promise<void>;
  let faults: ProcessFaults;

  beforeEach(() => {
    jest.useFakeTimers();
    logger = new CollectingLogger();
    done = [];
    handBack = () => Promise.resolve();
    const exit = (): void => void done.push(`exit ${process.exitCode}`);
    faults = new ProcessFaults(() => (done.push('hand back'), handBack()), logger, exit);
  });

  afterEach(() => {
    jest.useRealTimers();
    process.exitCode = 0;
  });

  const lines = (): unknown[] => logger.lines.map(({ level, message, fields }) => [level, message, fields['error']]);

  it('tells of a rejected promise, and goes on', () => {
    faults.rejected(boom);
    faults.rejected('a bare text');
    expect(lines()).toEqual([
      ['error', 'a promise was rejected and nobody looked', boom],
      ['error', 'a promise was rejected and nobody looked', 'a bare text'],
    ]);
    expect(done).toEqual([]);
  });

  it('tells of an exception, hands back and ends with 1', async () => {
    await faults.thrown(boom);
    expect(lines()).toEqual([
      ['error', 'an exception was not caught: runs are handed back, and the process ends', boom],
    ]);
    expect(done).toEqual(['hand back', 'exit 1']);
  });

  it('ends after five seconds when the runs cannot be handed back so soon, and ends once', async () => {
    handBack = () => new Promise(() => undefined);
    void faults.thrown(boom);
    await faults.thrown(new Error('what follows from it'));
    await jest.advanceTimersByTimeAsync(4999);
    expect(done).toEqual(['hand back']);
    await jest.advanceTimersByTimeAsync(1);
    expect(done).toEqual(['hand back', 'exit 1']);
    expect(logger.lines).toHaveLength(1);
  });

  it('ends too when handing back fails, or the log does', async () => {
    const away = new Error('the database is away');
    handBack = () => Promise.reject(away);
    await faults.thrown(boom);
    expect(lines().at(-1)).toEqual(['error', 'runs could not be handed back', away]);
    expect(done).toEqual(['hand back', 'exit 1']);

    const mute = new ProcessFaults(handBack, logger, () => done.push('exit'));
    jest.spyOn(logger, 'error').mockImplementation(() => {
      throw new Error('the disk is full');
    });
    await expect(mute.thrown(boom)).rejects.toThrow('the disk is full');
    expect(done.at(-1)).toBe('exit');
  });
});
