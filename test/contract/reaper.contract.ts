import type { Database } from '../../src/database/database.js';
import { AppError } from '../../src/common/app-error.js';
import { HeldRuns } from '../../src/runs/execution/held-runs.js';
import { FencedError } from '../../src/runs/ports/event-log.port.js';
import { Reaper } from '../../src/runs/queue/reaper.js';
import { lockRun } from '../../src/runs/log/run-rows.js';
import type { Lease } from '../../src/runs/run.js';
import {
  ALICE,
  aSession,
  finish,
  logOf,
  runRow,
  submitted,
  typesIn,
  useCore,
  type Core,
  type StoreUnderTest,
} from '../support/core.js';
import { FakeRenewal } from '../support/fake-renewal.js';
import { propertyRuns } from '../support/property-runs.js';

const TERMINAL = ['run_completed', 'run_failed', 'run_cancelled', 'run_expired'];
const ROUNDS = propertyRuns(100);

/** The reaper and whoever does something to the same run at the same moment. */
export function reaperContract(store: StoreUnderTest): void {
  const suite = useCore(store);
  let core: Core;
  let other: Core;

  beforeEach(async () => {
    core = suite.core;
    other = await suite.another();
  });

  const begin = async (): Promise<{ lease: Lease; runId: string; sessionId: string }> => {
    const sessionId = await aSession(core);
    const runId = await submitted(core, sessionId);
    const lease = (await core.claims.claimNext())!;
    return { lease, runId, sessionId };
  };

  const expire = (): Promise<unknown> =>
    core.database.inTransaction((manager) => manager.query('UPDATE runs SET lease_until = 1 WHERE lease_until > 1'));

  const timesIn = async (runId: string, ...types: readonly string[]): Promise<number> =>
    typesIn(await logOf(core, runId)).filter((type) => types.includes(type)).length;

  it('takes each run over once, however many look at once', async () => {
    const runs = [await begin(), await begin(), await begin()];
    await expire();
    const third = await suite.another();
    await Promise.all([core, other, third].map(({ reaper }) => reaper.round()));
    for (const { runId } of runs) {
      expect(await timesIn(runId, 'recovered')).toBe(1);
      expect(await runRow(core.database, runId)).toMatchObject({ status: 'queued', attempt: 2, takeovers: 1 });
    }
  });

  it('leaves alone what its own process executes: that worker lives', async () => {
    const { lease, runId } = await begin();
    const held = core.held.hold(lease);
    await expire();
    await core.reaper.round();
    expect((await runRow(core.database, runId)).status).toBe('running');
    held.release();
    await core.reaper.round();
    expect((await runRow(core.database, runId)).status).toBe('queued');
  });

  it('renews or takes over, never both', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { lease, runId } = await begin();
      const held = core.held.hold(lease);
      await expire();
      await Promise.all([other.reaper.round(), core.renewal.renew()]);
      const row = await runRow(core.database, runId);
      const [{ lease_until: until }] = (await core.database.query<{ lease_until: number | null }>(
        'SELECT lease_until FROM runs WHERE id = ?',
        [runId],
      )) as [{ lease_until: number | null }];
      if (row.status === 'running') expect(Number(until)).toBeGreaterThan(1);
      else await core.renewal.renew();
      expect([row.status, held.signal.aborted]).toEqual(
        row.status === 'running' ? ['running', false] : ['queued', true],
      );
      held.release();
      await core.takeover.takeOver(runId, undefined);
      await finish(core, (await core.claims.claimNext())!);
    }
  });

  it('ends a run or takes it over, never both', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { lease, runId } = await begin();
      await expire();
      const [end] = await Promise.allSettled([finish(core, lease), other.reaper.round()]);
      const row = await runRow(core.database, runId);
      if (end.status === 'fulfilled') {
        expect([row.status, await timesIn(runId, 'recovered')]).toEqual(['completed', 0]);
      } else {
        expect(end.reason).toBeInstanceOf(FencedError);
        expect([row.status, await timesIn(runId, ...TERMINAL)]).toEqual(['queued', 0]);
        await finish(core, (await core.claims.claimNext())!);
      }
      expect(await timesIn(runId, ...TERMINAL)).toBe(1);
    }
  });

  it('cancels a run once, whoever comes first', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { runId, sessionId } = await begin();
      await expire();
      await Promise.all([core.runs.cancel(ALICE, { sessionId, requestId: 'stop' }), other.reaper.round()]);
      await other.reaper.round();
      expect((await runRow(core.database, runId)).status).toBe('cancelled');
      expect(await timesIn(runId, ...TERMINAL)).toBe(1);
      expect(await core.claims.claimNext()).toBeUndefined();
    }
  });

  it('ends a cancelling run whose lease is over, and never queues it again', async () => {
    const { lease, runId, sessionId } = await begin();
    await core.runs.cancel(ALICE, { sessionId, requestId: 'stop', reason: 'enough' });
    await expire();
    await other.reaper.round();
    expect((await logOf(core, runId)).at(-1)).toMatchObject({ type: 'run_cancelled', reason: 'enough' });
    expect(await timesIn(runId, 'recovered')).toBe(0);
    await expect(core.ending.cancel(lease, { execMs: 1 })).rejects.toBeInstanceOf(FencedError);
  });

  it('counts a run whose first claim was never committed as attempt 1', async () => {
    const runId = await submitted(core, await aSession(core));
    const died = core.database.inTransaction(async (manager) => {
      await core.claims.claim(manager, (await lockRun(core.database, manager, runId))!, false);
      throw new Error('the process died');
    });
    await expect(died).rejects.toThrow('the process died');
    await other.reaper.round();
    expect(await runRow(core.database, runId)).toMatchObject({ status: 'queued', attempt: 0, takeovers: 0 });
    await core.claims.claimNext();
    expect((await logOf(core, runId)).at(-1)).toMatchObject({ type: 'run_running', attempt: 1 });
  });

  it('gives a run up that is lost again and again without progress', async () => {
    const { runId } = await begin();
    for (let loss = 1; loss <= core.config.runs.maxAttempts; loss += 1) {
      await expire();
      await other.reaper.round();
      await core.claims.claimNext();
    }
    expect(await runRow(core.database, runId)).toMatchObject({ status: 'failed', code: 'WORKER_LOST', attempt: 3 });
    expect(await timesIn(runId, ...TERMINAL)).toBe(1);
  });

  it('gives the living time to renew when the database was away, and logs an outage once', async () => {
    const { runId } = await begin();
    await expire();
    let isAway = true;
    const flaky = Object.create(core.database, {
      inTransaction: {
        value: (work: never, lane: never) =>
          isAway
            ? Promise.reject(new AppError('STORE_UNAVAILABLE', 'the database does not answer'))
            : core.database.inTransaction(work, lane),
      },
    }) as Database;
    const { takeover, hints, dispatcher, clock, logger } = other;
    const held = new HeldRuns(hints, new FakeRenewal());
    const config = { ...other.config, runs: { ...other.config.runs, heartbeatMs: 300 } } as typeof other.config;
    const reaper = new Reaper(flaky, held, takeover, hints, dispatcher, clock, config, logger);
    for (let round = 0; round < 3; round += 1) await reaper.round();
    isAway = false;
    await reaper.round();
    expect((await runRow(core.database, runId)).status).toBe('running');
    expect(logger.lines.map(({ level }) => level)).toEqual(['warn', 'info']);
    await new Promise((resolve) => setTimeout(resolve, 350));
    await reaper.round();
    expect((await runRow(core.database, runId)).status).toBe('queued');
  });

  if (store.name.startsWith('mysql')) {
    it('does not wait for a run that is being written: its writer lives', async () => {
      const [busy, lost] = [await begin(), await begin()];
      await expire();
      await core.database.inTransaction(async (manager) => {
        await lockRun(core.database, manager, busy.runId);
        await other.reaper.round();
        expect((await runRow(core.database, lost.runId)).status).toBe('queued');
      });
      expect((await runRow(core.database, busy.runId)).status).toBe('running');
    });
  }
}
