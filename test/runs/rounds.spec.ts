import { jest } from '@jest/globals';
import { Rounds } from '../../src/runs/rounds.js';

/** Stands for the log of failures. */
class Heard {
  readonly lines: string[] = [];
  failed = (error: unknown): void => void this.lines.push((error as Error).message);
  worked = (): void => void this.lines.push('worked');
}

describe('Rounds', () => {
  const heard = new Heard();
  let begun: number;
  let work: () => Promise<void>;
  const rounds = (random: number, retryMs?: number): Rounds =>
    new Rounds(() => ((begun += 1), work()), heard, {
      everyMs: 1000,
      random: () => random,
      ...(retryMs && { retryMs }),
    });

  beforeEach(() => {
    jest.useFakeTimers();
    heard.lines.length = 0;
    begun = 0;
    work = () => Promise.resolve();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

  it('begins each round after a wait, up to a fifth shorter than said', async () => {
    const [late, early] = [rounds(0), rounds(1)];
    late.start();
    await pass(999);
    expect(begun).toBe(0);
    await pass(1001);
    expect(begun).toBe(2);
    late.stop();
    early.start();
    await pass(799);
    expect(begun).toBe(2);
    await pass(801);
    expect(begun).toBe(4);
    early.stop();
    await pass(5000);
    expect(begun).toBe(4);
  });

  it('does one round at a time: who asks meanwhile gets the one under way', async () => {
    let end = (): void => undefined;
    work = () => new Promise((resolve) => (end = resolve));
    const slow = rounds(0);
    slow.start();
    await pass(10_000);
    expect(begun).toBe(1);
    const [one, other] = [slow.now(), slow.now()];
    end();
    await Promise.all([one, other]);
    expect(begun).toBe(1);
    await pass(1000);
    expect(begun).toBe(2);
    slow.stop();
  });

  it('tells of a failure, goes on after it, sooner if it is told to, and tells that it works again', async () => {
    const hasty = rounds(0, 100);
    work = () => Promise.reject(new Error('away'));
    hasty.start();
    await pass(1200);
    expect(heard.lines).toEqual(['away', 'away', 'away']);
    work = () => Promise.resolve();
    await pass(100);
    await pass(999);
    expect(heard.lines.slice(3)).toEqual(['worked']);
    hasty.stop();
  });

  it('says nothing of a round that fails after its stop, and may start again', async () => {
    let fail = (_error: Error): void => undefined;
    work = () => new Promise((_resolve, reject) => (fail = reject));
    const stopped = rounds(0);
    stopped.start();
    await pass(1000);
    stopped.stop();
    fail(new Error('the database is closed'));
    await pass(5000);
    expect([begun, heard.lines]).toEqual([1, []]);
    stopped.start();
    await pass(1000);
    expect(begun).toBe(2);
    stopped.stop();
  });

  it('never rejects', async () => {
    work = () => Promise.reject(new Error('away'));
    await expect(rounds(0).now()).resolves.toBeUndefined();
  });
});
