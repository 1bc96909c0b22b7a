import type { DataSource, EntityManager } from 'typeorm';

/** Commands (start, claim, cancel, takeover) go before the committer's batches, so a first byte never waits for deltas. */
export type Lane = 'command' | 'batch';

type Work<T> = (manager: EntityManager) => Promise<T>;
export type InTransaction = <T>(work: Work<T>, lane?: Lane) => Promise<T>;

interface Job {
  readonly work: Work<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** How many transactions may share one commit. */
const LARGEST_GROUP = 256;

/**
 * The one gate to SQLite's writer: what waits at the same moment runs one after another, commands before batches,
 * and shares one commit, because the commit is what costs. Work that calls the gate again would wait for itself:
 * pass the manager on. Work may run twice, like a deadlock's victim on MySQL.
 */
export function gated(source: DataSource): InTransaction {
  const lanes: Record<Lane, Job[]> = { command: [], batch: [] };
  let isBusy = false;
  const schedule = (): void => {
    if (isBusy || lanes.command.length + lanes.batch.length === 0) return;
    isBusy = true;
    setImmediate(() => {
      const commands = lanes.command.splice(0, LARGEST_GROUP);
      const batches = lanes.batch.splice(0, LARGEST_GROUP - commands.length);
      void shareCommit(source, [...commands, ...batches]).then(() => {
        isBusy = false;
        schedule();
      });
    });
  };
  return <T>(work: Work<T>, lane: Lane = 'command'): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      lanes[lane].push({ work, resolve: resolve as Job['resolve'], reject });
      schedule();
    });
}

/** Settles every job; one that fails must not take the others along, so then each gets a transaction of its own. */
async function shareCommit(source: DataSource, jobs: readonly Job[]): Promise<void> {
  if (jobs.length > 1) {
    const results = await source.transaction((manager) => allInOrder(jobs, manager)).catch(() => undefined);
    if (results !== undefined) {
      jobs.forEach((job, index) => job.resolve(results[index]));
      return;
    }
  }
  for (const job of jobs) await source.transaction(job.work).then(job.resolve, job.reject);
}

async function allInOrder(jobs: readonly Job[], manager: EntityManager): Promise<readonly unknown[]> {
  const results: unknown[] = [];
  for (const job of jobs) results.push(await job.work(manager));
  return results;
}

/** A victim is repeated so often at most, and as long. */
const ATTEMPTS = 6;
const REPEAT_MS = 6000;

/**
 * MySQL has row locks: transactions run side by side; a deadlock's or lock time-out's victim is repeated whole, after
 * a random pause that grows, so that two victims do not meet again.
 */
export function concurrent(source: DataSource, isRepeatable: (error: unknown) => boolean): InTransaction {
  return async <T>(work: Work<T>): Promise<T> => {
    const deadlineMs = performance.now() + REPEAT_MS;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await source.transaction(work);
      } catch (error) {
        if (attempt >= ATTEMPTS || !isRepeatable(error) || performance.now() > deadlineMs) throw error;
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 5 * 2 ** attempt));
      }
    }
  };
}
