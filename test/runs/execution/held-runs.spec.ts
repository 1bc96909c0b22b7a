import { InProcessHints } from '../../../src/runs/adapters/in-process-hints.js';
import { HeldRuns, RunStopped } from '../../../src/runs/execution/held-runs.js';
import { FakeRenewal } from '../../support/fake-renewal.js';
import { lifeEvent } from '../../support/life-cycle.js';

const cancelling = [lifeEvent('cancelling', { reason: null })] as never;

describe('HeldRuns', () => {
  const hints = new InProcessHints();
  const renewal = new FakeRenewal();
  const runs = new HeldRuns(hints, renewal);

  afterEach(() => {
    for (const run of runs.all()) run.release();
  });

  it('stops the run of which a hint says that it is cancelled, for the first reason only', () => {
    const [first, second] = [runs.hold({ runId: 'r1', epoch: 1 }), runs.hold({ runId: 'r2', epoch: 1 })];
    hints.publish({ runId: 'r1', seq: 3 });
    hints.publish({ runId: 'r3', seq: 3, events: cancelling });
    expect(first.signal.aborted).toBe(false);
    hints.publish({ runId: 'r1', seq: 3, events: cancelling });
    first.stop('drain');
    expect(first.signal.reason).toEqual(new RunStopped('cancel'));
    expect(second.signal.aborted).toBe(false);
  });

  it('holds a run once: a new lease stops the old one, whose release lets the new one be', () => {
    const old = runs.hold({ runId: 'r1', epoch: 1 });
    const young = runs.hold({ runId: 'r1', epoch: 3 });
    expect(old.signal.reason).toEqual(new RunStopped('fenced'));
    old.release();
    expect(runs.all()).toEqual([young]);
    expect(renewal.leases.all()).toEqual([young.lease]);
    young.release();
    expect(runs.size).toBe(0);
  });

  it('has leases renewed as long as it holds their runs, and lets go of one that is lost', () => {
    const [first, second] = [runs.hold({ runId: 'r1', epoch: 3 }), runs.hold({ runId: 'r2', epoch: 1 })];
    expect(renewal.leases.all()).toEqual([first.lease, second.lease]);
    renewal.lost$.next({ runId: 'r1', epoch: 1 });
    renewal.lost$.next({ runId: 'r9', epoch: 1 });
    expect(first.signal.aborted).toBe(false);
    renewal.lost$.next({ runId: 'r1', epoch: 3 });
    expect(first.signal.reason).toEqual(new RunStopped('fenced'));
    expect(second.signal.aborted).toBe(false);
    first.release();
    expect(renewal.leases.all()).toEqual([second.lease]);
  });
});
