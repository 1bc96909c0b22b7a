import { Subject } from 'rxjs';
import { RunWorker } from '../../../src/runs/queue/run-worker.js';
import type { Lease } from '../../../src/runs/run.js';
import { turns } from '../../support/core.js';
import { aConfig } from '../../support/test-config.js';

/** A queue whose claims the test answers, and a worker on it. */
class Queue {
  readonly due$ = new Subject<void>();
  readonly executed: string[] = [];
  private readonly looks: ((lease: Lease | undefined) => void)[] = [];
  readonly worker: RunWorker;

  constructor() {
    const nothing = { start: () => undefined, stop: () => undefined };
    const parts = {
      claims: { claimNext: () => new Promise<Lease | undefined>((resolve) => this.looks.push(resolve)) },
      executor: { execute: async ({ runId }: Lease) => void this.executed.push(runId) },
      dispatcher: { due$: this.due$ },
    };
    this.worker = new RunWorker(
      parts.claims as never,
      parts.executor as never,
      nothing as never,
      nothing as never,
      nothing as never,
      nothing as never,
      parts.dispatcher as never,
      aConfig({}),
      nothing as never,
    );
  }

  get waiting(): number {
    return this.looks.length;
  }

  /** Answers the oldest claim that waits. */
  async give(runId: string | undefined): Promise<void> {
    this.looks.shift()!(runId === undefined ? undefined : { runId, epoch: 1 });
    await turns();
  }
}

describe('RunWorker', () => {
  it('claims until nothing is left, then looks when it is told', async () => {
    const queue = new Queue();
    await queue.worker.start();
    await queue.give('a');
    await queue.give('b');
    await queue.give(undefined);
    expect([queue.executed, queue.waiting]).toEqual([['a', 'b'], 0]);
    queue.due$.next();
    await queue.give('c');
    expect(queue.executed).toEqual(['a', 'b', 'c']);
  });

  it('looks again when a run is announced while it finds nothing', async () => {
    const queue = new Queue();
    await queue.worker.start();
    queue.due$.next();
    await queue.give(undefined);
    expect(queue.waiting).toBe(1);
    await queue.give('late');
    expect(queue.executed).toEqual(['late']);
  });
});
