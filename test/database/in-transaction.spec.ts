import type { DataSource, EntityManager } from 'typeorm';
import { concurrent, gated } from '../../src/database/in-transaction.js';
import { turns } from '../support/core.js';

/** A source that runs its work at once and notes where each transaction begins and ends. */
class FakeSource {
  readonly notes: string[] = [];
  private open = 0;
  widest = 0;

  async transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    this.open += 1;
    this.widest = Math.max(this.widest, this.open);
    try {
      return await work({} as EntityManager);
    } finally {
      this.open -= 1;
    }
  }

  get source(): DataSource {
    return this as unknown as DataSource;
  }
}

describe('gated', () => {
  const work = (fake: FakeSource, name: string) => async (): Promise<string> => {
    fake.notes.push(`${name} begins`);
    await turns(2);
    fake.notes.push(`${name} ends`);
    return name;
  };

  it('runs one transaction at a time: commands in their order, before the batches in theirs', async () => {
    const fake = new FakeSource();
    const run = gated(fake.source);
    const names = await Promise.all([
      run(work(fake, 'first batch'), 'batch'),
      run(work(fake, 'second batch'), 'batch'),
      run(work(fake, 'third batch'), 'batch'),
      run(work(fake, 'command')),
      run(work(fake, 'second command'), 'command'),
    ]);
    expect(names).toEqual(['first batch', 'second batch', 'third batch', 'command', 'second command']);
    expect(fake.widest).toBe(1);
    expect(fake.notes.filter((note) => note.endsWith('begins'))).toEqual(
      ['first batch', 'command', 'second command', 'second batch', 'third batch'].map((name) => `${name} begins`),
    );
  });

  it('gives a failure to its caller alone and goes on', async () => {
    const fake = new FakeSource();
    const run = gated(fake.source);
    const outcomes = await Promise.allSettled([
      run(() => Promise.reject(new Error('no'))),
      run(work(fake, 'next')),
      run(() => {
        throw new Error('at once');
      }),
      run(work(fake, 'last')),
    ]);
    expect(
      outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : String(outcome.reason))),
    ).toEqual(['Error: no', 'next', 'Error: at once', 'last']);
  });

  it('opens again when it was idle', async () => {
    const run = gated(new FakeSource().source);
    expect(await run(() => Promise.resolve(1))).toBe(1);
    await turns();
    expect(await run(() => Promise.resolve(2))).toBe(2);
  });
});

describe('concurrent', () => {
  const deadlock = new Error('deadlock');
  const isRepeatable = (error: unknown): boolean => error === deadlock;

  const failing = (times: number, error: Error) => {
    let attempts = 0;
    return {
      get attempts() {
        return attempts;
      },
      work: (): Promise<string> => {
        attempts += 1;
        return attempts <= times ? Promise.reject(error) : Promise.resolve('done');
      },
    };
  };

  it('runs transactions side by side', async () => {
    const fake = new FakeSource();
    const run = concurrent(fake.source, isRepeatable);
    await Promise.all([run(() => turns(2)), run(() => turns(2))]);
    expect(fake.widest).toBe(2);
  });

  it('repeats the victim of a deadlock as a whole, five times in all', async () => {
    const run = concurrent(new FakeSource().source, isRepeatable);
    const [twice, always] = [failing(2, deadlock), failing(9, deadlock)];
    expect(await run(twice.work)).toBe('done');
    expect(twice.attempts).toBe(3);
    await expect(run(always.work)).rejects.toBe(deadlock);
    expect(always.attempts).toBe(5);
  });

  it('repeats nothing else', async () => {
    const other = failing(1, new Error('other'));
    await expect(concurrent(new FakeSource().source, isRepeatable)(other.work)).rejects.toThrow('other');
    expect(other.attempts).toBe(1);
  });
});
