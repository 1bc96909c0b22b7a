import type { DataSource, EntityManager } from 'typeorm';
import { concurrent, gated } from '../../src/database/in-transaction.js';
import { turns } from '../support/core.js';

/** A source that runs its work at once and notes where each transaction begins and ends. */
class FakeSource {
  readonly notes: string[] = [];
  private open = 0;
  widest = 0;
  count = 0;

  async transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    this.open += 1;
    this.count += 1;
    this.widest = Math.max(this.widest, this.open);
    try {
      const result = await work({} as EntityManager);
      this.notes.push('commit');
      return result;
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
  const begun = (fake: FakeSource): string[] =>
    fake.notes.filter((note) => note.endsWith('begins')).map((note) => note.slice(0, -' begins'.length));

  it('runs what waits one after another in one transaction: commands in their order, before the batches in theirs', async () => {
    const fake = new FakeSource();
    const run = gated(fake.source);
    const names = await Promise.all([
      run(work(fake, 'first batch'), 'batch'),
      run(work(fake, 'second batch'), 'batch'),
      run(work(fake, 'command')),
      run(work(fake, 'second command'), 'command'),
    ]);
    expect(names).toEqual(['first batch', 'second batch', 'command', 'second command']);
    expect(begun(fake)).toEqual(['command', 'second command', 'first batch', 'second batch']);
    expect([fake.count, fake.widest]).toEqual([1, 1]);
  });

  it('lets what comes meanwhile wait for the next transaction', async () => {
    const fake = new FakeSource();
    const run = gated(fake.source);
    const first = run(work(fake, 'first'));
    await untilNoted(fake, 'first begins');
    const later = [run(work(fake, 'batch'), 'batch'), run(work(fake, 'command'))];
    await Promise.all([first, ...later]);
    expect(begun(fake)).toEqual(['first', 'command', 'batch']);
    expect([fake.count, fake.widest]).toEqual([2, 1]);
  });

  it('settles nothing before the commit', async () => {
    const fake = new FakeSource();
    const run = gated(fake.source);
    const settle = (name: string) => () => fake.notes.push(`${name} is told`);
    await Promise.all([run(work(fake, 'a')).then(settle('a')), run(work(fake, 'b')).then(settle('b'))]);
    expect(fake.notes.slice(-4)).toEqual(['b ends', 'commit', 'a is told', 'b is told']);
  });

  it('gives a failure to its caller alone: the others are done again without it', async () => {
    const fake = new FakeSource();
    const run = gated(fake.source);
    const outcomes = await Promise.allSettled([
      run(work(fake, 'before')),
      run(() => Promise.reject(new Error('no'))),
      run(work(fake, 'next')),
      run(() => {
        throw new Error('at once');
      }),
      run(work(fake, 'last')),
    ]);
    expect(
      outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : String(outcome.reason))),
    ).toEqual(['before', 'Error: no', 'next', 'Error: at once', 'last']);
    expect(begun(fake)).toEqual(['before', 'before', 'next', 'last']);
    expect(fake.widest).toBe(1);
  });

  it('tells everyone when the commit itself fails', async () => {
    const full = new Error('the disk is full');
    const source = { transaction: () => Promise.reject(full) } as unknown as DataSource;
    const run = gated(source);
    const outcomes = await Promise.allSettled([run(() => Promise.resolve(1)), run(() => Promise.resolve(2))]);
    expect(outcomes).toEqual([
      { status: 'rejected', reason: full },
      { status: 'rejected', reason: full },
    ]);
  });

  it('opens again when it was idle', async () => {
    const run = gated(new FakeSource().source);
    expect(await run(() => Promise.resolve(1))).toBe(1);
    await turns();
    expect(await run(() => Promise.resolve(2))).toBe(2);
  });
});

async function untilNoted(fake: FakeSource, note: string): Promise<void> {
  while (!fake.notes.includes(note)) await turns();
}

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

  it('repeats the victim of a deadlock as a whole, six times in all', async () => {
    const run = concurrent(new FakeSource().source, isRepeatable);
    const [twice, always] = [failing(2, deadlock), failing(9, deadlock)];
    expect(await run(twice.work)).toBe('done');
    expect(twice.attempts).toBe(3);
    await expect(run(always.work)).rejects.toBe(deadlock);
    expect(always.attempts).toBe(6);
  });

  it('repeats nothing else', async () => {
    const other = failing(1, new Error('other'));
    await expect(concurrent(new FakeSource().source, isRepeatable)(other.work)).rejects.toThrow('other');
    expect(other.attempts).toBe(1);
  });
});
