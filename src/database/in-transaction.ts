import type { DataSource, EntityManager } from 'typeorm';

/** Commands (start, claim, cancel, takeover) go before the committer's batches, so a first byte never waits for deltas. */
export type Lane = 'command' | 'batch';

type Work<T> = (manager: EntityManager) => Promise<T>;
export type InTransaction = <T>(work: Work<T>, lane?: Lane) => Promise<T>;

/**
 * The one gate to SQLite's writer: transactions run one after another, commands before batches. Work that calls
 * the gate again would wait for itself: pass the manager on.
 */
export function gated(source: DataSource): InTransaction {
  const lanes: Record<Lane, (() => Promise<void>)[]> = { command: [], batch: [] };
  let isBusy = false;
  const next = (): void => {
    const job = lanes.command.shift() ?? lanes.batch.shift();
    isBusy = job !== undefined;
    void job?.().then(next);
  };
  return <T>(work: Work<T>, lane: Lane = 'command'): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      lanes[lane].push(() => source.transaction(work).then(resolve, reject));
      if (!isBusy) next();
    });
}

/** MySQL has row locks: transactions run side by side; a deadlock's or lock time-out's victim is repeated whole. */
export function concurrent(source: DataSource, isRepeatable: (error: unknown) => boolean): InTransaction {
  return async <T>(work: Work<T>): Promise<T> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await source.transaction(work);
      } catch (error) {
        if (attempt >= 5 || !isRepeatable(error)) throw error;
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * attempt));
      }
    }
  };
}
