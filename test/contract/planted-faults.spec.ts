import { createConnection, type Connection } from 'mysql2/promise';
import type { DataSource, EntityManager } from 'typeorm';
import { checkDatabase } from '../../src/boot/start-up-checks.js';
import { SystemClock } from '../../src/common/clock.js';
import { mysqlSource } from '../../src/database/data-sources.js';
import { Database } from '../../src/database/database.js';
import { isCheckViolation } from '../../src/database/database-errors.js';
import type { LoggedEvent } from '../../src/events/projection.js';
import { GroupCommitter } from '../../src/runs/log/group-committer.js';
import { updateRun } from '../../src/runs/log/run-rows.js';
import type { RunAppends } from '../../src/runs/log/waiting-appends.js';
import { RunObserver } from '../../src/runs/reading/run-observer.js';
import type { Lease } from '../../src/runs/run.js';
import {
  aCore,
  aSession,
  logOf,
  storesUnderTest,
  submitted,
  typesIn,
  until,
  useCore,
  type CommitterFactory,
  type Core,
} from '../support/core.js';
import { mysqlUnderTest, type TestDatabase } from '../support/databases.js';
import { EngineEvents } from '../support/fake-runtime.js';
import { fuzzObservers } from '../support/observer-fuzz.js';
import { aConfig } from '../support/test-config.js';

/** What the product does instead of each of these: every check here is asked about the product and about its fault. */

/** Fault: lets everybody write who ever held the run. */
class NoEpochCheck extends GroupCommitter {
  protected override isFenced(): boolean {
    return false;
  }
}

/** Fault: what a hint brings is taken for all there is. */
class HintIsTruth extends RunObserver {
  protected override due(events: readonly LoggedEvent[]): readonly LoggedEvent[] {
    const due = events.filter((event) => event.seq > this.last);
    this.last = due.at(-1)?.seq ?? this.last;
    return due;
  }
}

/** Fault: a column gets a value that its enumeration does not have. */
class WritesNonsense extends GroupCommitter {
  protected override async write(manager: EntityManager, batch: readonly RunAppends[]) {
    const written = await super.write(manager, batch);
    for (const { owner } of written.values()) await updateRun(manager, owner.id, { queue_state: 'later' });
    return written;
  }
}

/** Fault: locks the runs of a batch in the order in which they were appended to. */
class UnsortedLocks extends GroupCommitter {
  protected override async write(manager: EntityManager, batch: readonly RunAppends[]) {
    for (const { lease } of batch) {
      await manager.query('SELECT id FROM runs WHERE id = ? FOR UPDATE', [lease.runId]);
      await manager.query('DO SLEEP(0.05)');
    }
    return super.write(manager, batch);
  }
}

/** Fault: a deadlock's victim is not repeated. */
const withoutRepeat = (database: Database, source: DataSource): Database =>
  withTransactions(database, (work) => source.transaction(work));

type Transactions = (work: (manager: EntityManager) => Promise<unknown>) => Promise<unknown>;

const withTransactions = (database: Database, inTransaction: Transactions): Database =>
  Object.create(database, { inTransaction: { value: inTransaction } }) as Database;

/** Fault: a claim waits for a row that somebody has locked. */
const withoutSkipLocked = (database: Database): Database =>
  Object.create(database, { skipLocked: { value: ' FOR UPDATE' } }) as Database;

interface Writer {
  readonly lease: Lease;
  readonly events: EngineEvents;
}

/** Runs of this core, in the order of their ids. */
async function leasedRuns(core: Core, count: number): Promise<readonly Writer[]> {
  const writers: Writer[] = [];
  for (let n = 0; n < count; n += 1) {
    const sessionId = await aSession(core);
    const runId = await submitted(core, sessionId);
    const lease = (await core.claims.claimNext())!;
    writers.push({ lease, events: new EngineEvents({ runId, sessionId }) });
  }
  return writers.toSorted((a, b) => (a.lease.runId < b.lease.runId ? -1 : 1));
}

/** Appends to all of them in one batch. */
const appendAll = (core: Core, writers: readonly Writer[]): Promise<PromiseSettledResult<void>[]> =>
  Promise.allSettled(writers.map(({ lease, events }) => core.log.append(lease, events.start('x'))));

let seed = 20_261_207;

describe('the fuzz of observers', () => {
  const suite = useCore(storesUnderTest()[0]!);

  it.each([
    ['a hint is taken for the truth', { Observer: HintIsTruth }, /observer from \d+ (left|waits for ever) with/],
    ['no epoch stands in the WHERE', { Committer: NoEpochCheck }, /log: epoch-\d+ wrote in/],
  ])('fails when %s', async (_what, fault, words) => {
    const real = await fuzzObservers(suite.database, { seed: (seed += 1), observers: 200 });
    expect(real.faults).toEqual([]);
    const faulty = await fuzzObservers(suite.database, { seed, observers: 200, ...fault });
    expect(faulty.faults.join('\n')).toMatch(words);
  });
});

describe.each(storesUnderTest())('a value that no enumeration has, on $name', (store) => {
  const suite = useCore(store);

  it('is refused by the schema, with everything that came with it', async () => {
    const faulty = await suite.another({ committer: (...parts) => new WritesNonsense(...parts) });
    const [writer] = (await leasedRuns(suite.core, 1)) as [Writer];
    const outcomes = await appendAll(faulty, [writer]);
    expect(outcomes).toEqual([{ status: 'rejected', reason: expect.anything() as unknown }]);
    expect(isCheckViolation((outcomes[0] as PromiseRejectedResult).reason)).toBe(true);
    expect(typesIn(await logOf(suite.core, writer.lease.runId))).toEqual(['run_queued', 'run_running']);
    expect(await appendAll(suite.core, [writer])).toEqual([{ status: 'fulfilled', value: undefined }]);
  });
});

describe('locks on MySQL', () => {
  const mysql = mysqlUnderTest();
  let place: TestDatabase;
  const suite = useCore({ name: 'mysql', create: async () => (place = await mysql.create()) });
  let outside: Connection;

  beforeEach(async () => {
    outside = await createConnection(place.url);
    await outside.query('SET TRANSACTION ISOLATION LEVEL READ COMMITTED');
    await outside.query('START TRANSACTION');
  });
  afterEach(() => outside.end());

  const lockOutside = (runId: string): Promise<unknown> =>
    outside.query('SELECT id FROM runs WHERE id = ? FOR UPDATE', [runId]);

  /** Which of these rows somebody else has locked now. */
  const locked = async (runIds: readonly string[]): Promise<readonly string[]> => {
    const looker = await createConnection(place.url);
    const free: unknown[] = [];
    for (const id of runIds) {
      const [rows] = await looker.query('SELECT id FROM runs WHERE id = ? FOR UPDATE SKIP LOCKED', [id]);
      free.push(...(rows as { id: string }[]).map((row) => row.id));
    }
    await looker.end();
    return runIds.filter((id) => !free.includes(id));
  };

  describe('a claim', () => {
    /** What a claimer gets of two ready runs, while the older one is locked from outside. */
    const claimBesideLock = async (core: Core): Promise<'the younger' | 'nothing' | 'it waits'> => {
      const older = await submitted(core, await aSession(core));
      const younger = await submitted(core, await aSession(core));
      await suite.database.inTransaction((manager) =>
        manager.query('UPDATE runs SET available_at = available_at - 10 WHERE id = ?', [older]),
      );
      await lockOutside(older);
      const claim = core.claims.claimNext();
      const patience = new Promise<'late'>((resolve) => setTimeout(resolve, 2000, 'late').unref());
      const first = await Promise.race([claim, patience]);
      await outside.query('ROLLBACK');
      await claim;
      if (first === 'late') return 'it waits';
      return first?.runId === younger ? 'the younger' : 'nothing';
    };

    it('passes over a row that is locked, and does not wait', async () => {
      expect(await claimBesideLock(suite.core)).toBe('the younger');
    });

    it('waits when it does without SKIP LOCKED', async () => {
      const faulty = await aCore(withoutSkipLocked(suite.database));
      expect(await claimBesideLock(faulty)).toBe('it waits');
      await faulty.stop();
    });
  });

  describe('of a batch', () => {
    /** Which runs a batch of three, appended to from the last id to the first, holds while the middle one is locked. */
    const heldBehindTheMiddle = async (core: Core): Promise<readonly number[]> => {
      const writers = await leasedRuns(suite.core, 3);
      const ids = writers.map(({ lease }) => lease.runId);
      await lockOutside(ids[1]!);
      const appended = appendAll(core, writers.toReversed());
      const ends = [ids[0]!, ids[2]!];
      await until('the batch has locked a run', async () => (await locked(ends)).length > 0);
      const held = await locked(ids);
      await outside.query('ROLLBACK');
      expect((await appended).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
      return held.map((id) => ids.indexOf(id));
    };

    it('are taken in the order of ids, whatever the order of appends', async () => {
      expect(await heldBehindTheMiddle(suite.core)).toEqual([0, 1]);
    });

    it('show it when they are not sorted', async () => {
      const faulty = await suite.another({ committer: (...parts) => new UnsortedLocks(...parts) });
      expect(await heldBehindTheMiddle(faulty)).toEqual([1, 2]);
    });
  });

  describe('of the batches of two processes, on the same runs in opposite order', () => {
    let source: DataSource;

    beforeEach(async () => {
      source = await mysqlSource(place.url, { poolSize: 4, timeoutMs: 10_000 }).initialize();
    });
    afterEach(() => source.destroy());

    /** How many batches fail; the committer writes each run of such a batch alone then. */
    const failedBatches = async (Committer: typeof GroupCommitter, repeats: boolean): Promise<number> => {
      let failed = 0;
      const database = repeats ? suite.database : withoutRepeat(suite.database, source);
      const counted = withTransactions(database, async (work) => {
        try {
          return await database.inTransaction(work, 'batch');
        } catch (error) {
          failed += 1;
          throw error;
        }
      });
      const committer: CommitterFactory = (_database, ...rest) => new Committer(counted, ...rest);
      const [a, b] = [await suite.another({ committer }), await suite.another({ committer })];
      const writers = await leasedRuns(suite.core, 2);
      for (let round = 0; round < 10; round += 1) {
        await Promise.all([appendAll(a, writers), appendAll(b, writers.toReversed())]);
      }
      return failed;
    };

    it.each([
      ['sorted locks and a repeat', GroupCommitter, true],
      ['sorted locks alone', GroupCommitter, false],
      ['a repeat alone', UnsortedLocks, true],
    ])('all get through with %s', async (_what, Committer, repeats) => {
      expect(await failedBatches(Committer, repeats)).toBe(0);
    });

    it('meet in a circle with unsorted locks and no repeat', async () => {
      expect(await failedBatches(UnsortedLocks, false)).toBeGreaterThan(0);
    });
  });
});

describe('the start-up check of the session', () => {
  let place: TestDatabase;
  let database: Database;

  beforeEach(async () => {
    place = await mysqlUnderTest().create();
    database = await Database.open({ url: place.url, synchronous: 'normal', poolSize: 1 }, new SystemClock());
  });
  afterEach(async () => {
    await database.close();
    await place.drop();
  });

  const isGood = async (): Promise<boolean | undefined> => {
    const checks = await checkDatabase(database, aConfig({}), new SystemClock());
    return checks.find(({ name }) => name === 'session')?.isGood;
  };

  it('is red when READ COMMITTED was not set', async () => {
    expect(await isGood()).toBe(true);
    await database.query('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    expect(await isGood()).toBe(false);
  });
});
