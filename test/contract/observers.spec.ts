import type { EntityManager } from 'typeorm';
import type { LoggedEvent } from '../../src/events/projection.js';
import { GroupCommitter } from '../../src/runs/log/group-committer.js';
import type { RunAppends } from '../../src/runs/log/waiting-appends.js';
import { RunObserver } from '../../src/runs/reading/run-observer.js';
import { storesUnderTest, useCore } from '../support/core.js';
import { fuzzObservers } from '../support/observer-fuzz.js';
import { propertyRuns } from '../support/property-runs.js';

const OBSERVERS = propertyRuns(2000);

/** Mutant: delivers whatever comes. */
class NoDedupe extends RunObserver {
  protected override due(events: readonly LoggedEvent[]): readonly LoggedEvent[] {
    this.last = events.at(-1)?.seq ?? this.last;
    return events;
  }
}

/** Mutant: loses what comes live while it reads the log. */
class NoHold extends RunObserver {
  private isReading = false;

  protected override async readDue(): Promise<readonly LoggedEvent[]> {
    this.isReading = true;
    try {
      return await super.readDue();
    } finally {
      this.isReading = false;
    }
  }

  protected override hold(events: readonly LoggedEvent[]): void {
    if (!this.isReading) super.hold(events);
  }
}

/** Mutant: shows what is not durable yet. */
class PublishesFirst extends GroupCommitter {
  protected override async commitThenPublish(batch: readonly RunAppends[]): Promise<void> {
    const written = await this.database.inTransaction(async (manager: EntityManager) => {
      const rows = await this.write(manager, batch);
      for (const { owner, events } of rows.values()) this.publish(owner.id, events);
      return rows;
    }, 'batch');
    this.settle(batch, written);
  }
}

let seed = 20_261_129;

describe.each(storesUnderTest())('observers on $name', (store) => {
  const suite = useCore(store);

  it(`lose, repeat and reorder nothing: ${OBSERVERS} of them`, async () => {
    const report = await fuzzObservers(suite.database, { seed: (seed += 1), observers: OBSERVERS });
    expect(report.faults).toEqual([]);
    expect(report.observers).toBe(OBSERVERS);
    expect(report.delivered).toBeGreaterThan(OBSERVERS);
    // the fuzz was one: runs were lost, dead holders wrote, commits failed
    for (const count of [report.takeovers, report.fenced, report.failedCommits]) expect(count).toBeGreaterThan(0);
  });

  it('miss nothing when hints never come: they look themselves', async () => {
    const report = await fuzzObservers(suite.database, {
      seed: (seed += 1),
      observers: Math.ceil(OBSERVERS / 4),
      dropShare: 0.5,
    });
    expect(report.faults).toEqual([]);
  });
});

describe('the fuzz of observers', () => {
  const suite = useCore(storesUnderTest()[0]!);

  it.each([
    ['no dedupe', { Observer: NoDedupe }, /observer from \d+ left with/],
    ['no hold', { Observer: NoHold }, /observer from \d+ waits for ever/],
    ['publish before commit', { Committer: PublishesFirst }, /got another event \d+ than the log has/],
  ])('fails for the mutant: %s', async (_what, mutant, fault) => {
    const report = await fuzzObservers(suite.database, { seed: (seed += 1), observers: 200, ...mutant });
    expect(report.faults.join('\n')).toMatch(fault);
  });
});
