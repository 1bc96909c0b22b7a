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
import type { Lease } from '../../src/runs/run.js';

/** What a queue of runs promises, whatever database it is in: the port `RunDispatcher` only says when to look. */
export function runQueueContract(store: StoreUnderTest): void {
  const suite = useCore(store);
  let core: Core;

  beforeEach(() => {
    core = suite.core;
  });

  const claim = async (by = core): Promise<Lease> => {
    const lease = await by.claims.claimNext();
    if (lease === undefined) throw new Error('nothing is ready');
    return lease;
  };
  it('gives each run to one of several claimers', async () => {
    const others = [await suite.another(), await suite.another()];
    const expected: string[] = [];
    for (let n = 0; n < 24; n += 1) expected.push(await submitted(core, await aSession(core)));
    const claimed: string[] = [];
    const claimAll = async (by: Core): Promise<void> => {
      for (;;) {
        const lease = await by.claims.claimNext();
        if (lease === undefined) return;
        claimed.push(lease.runId);
      }
    };
    await Promise.all([core, ...others, core].map(claimAll));
    expect(claimed.toSorted()).toEqual(expected.toSorted());
    const row = await runRow(core.database, expected[0]!);
    expect([core, ...others].map((each) => each.claims.owner)).toContain(row.leaseOwner);
    expect(row).toMatchObject({
      status: 'running',
      epoch: 1,
      attempt: 1,
      queueState: 'none',
      activeSessionId: row.sessionId,
    });
  });

  it('lets the oldest go first, and a better priority before it', async () => {
    const old = await submitted(core, await aSession(core));
    const young = await submitted(core, await aSession(core));
    const urgent = await submitted(core, await aSession(core));
    await core.database.inTransaction(async (manager) => {
      await manager.query('UPDATE runs SET available_at = available_at - 10 WHERE id = ?', [old]);
      await manager.query('UPDATE runs SET priority = -1 WHERE id = ?', [urgent]);
    });
    const order = [(await claim()).runId, (await claim()).runId, (await claim()).runId];
    expect(order).toEqual([urgent, old, young]);
  });

  it('gives nothing before its time', async () => {
    const runId = await submitted(core, await aSession(core));
    const move = (by: number): Promise<unknown> =>
      core.database.inTransaction((manager) =>
        manager.query('UPDATE runs SET available_at = available_at + ? WHERE id = ?', [by, runId]),
      );
    await move(60_000);
    expect(await core.claims.claimNext()).toBeUndefined();
    await move(-60_000);
    expect((await claim()).runId).toBe(runId);
  });

  it('runs the messages of a session one after another, in their order', async () => {
    const sessionId = await aSession(core);
    const runs = [];
    for (let n = 0; n < 4; n += 1) runs.push(await submitted(core, sessionId));
    const order: string[] = [];
    for (let n = 0; n < 4; n += 1) {
      const lease = await claim();
      expect(await core.claims.claimNext()).toBeUndefined();
      order.push(lease.runId);
      await finish(core, lease);
    }
    expect(order).toEqual(runs);
  });

  it.each(['cancel a waiting run', 'import events', 'close another session'] as const)(
    'keeps the line behind the active run when its neighbours %s',
    async (what) => {
      const sessionId = await aSession(core);
      const active = await submitted(core, sessionId);
      const second = await submitted(core, sessionId);
      const third = await submitted(core, sessionId);
      const lease = await claim();
      if (what === 'cancel a waiting run') {
        await core.runs.cancel(ALICE, { sessionId, requestId: 'stop', runId: second });
      } else if (what === 'import events') {
        await core.runs.importEvents(ALICE, sessionId, { events: [], stateDelta: { a: 1 } });
      } else {
        await core.runs.closeSession(ALICE, await aSession(core));
      }
      expect(await core.claims.claimNext()).toBeUndefined();
      expect(await runRow(core.database, third)).toMatchObject({ status: 'queued', queueState: 'blocked' });
      await finish(core, lease);
      expect((await claim()).runId).toBe(what === 'cancel a waiting run' ? third : second);
      expect(typesIn(await logOf(core, active)).at(-1)).toBe('run_completed');
    },
  );

  it('keeps the line when a waiting run gets too old', async () => {
    const sessionId = await aSession(core);
    const active = await submitted(core, sessionId);
    const second = await submitted(core, sessionId);
    const third = await submitted(core, sessionId);
    expect((await claim()).runId).toBe(active);
    await core.database.inTransaction((manager) =>
      manager.query('UPDATE runs SET created_at = 1 WHERE id = ?', [second]),
    );
    await core.reaper.round();
    expect(await runRow(core.database, second)).toMatchObject({ status: 'expired', code: 'RUN_TTL_EXCEEDED' });
    expect(await runRow(core.database, third)).toMatchObject({ status: 'queued', queueState: 'blocked' });
    expect(await core.claims.claimNext()).toBeUndefined();
  });

  it('wakes the next run of a session when the first is cancelled before it began', async () => {
    const sessionId = await aSession(core);
    const first = await submitted(core, sessionId);
    const second = await submitted(core, sessionId);
    await core.runs.cancel(ALICE, { sessionId, requestId: 'stop' });
    expect((await runRow(core.database, first)).status).toBe('cancelled');
    expect((await claim()).runId).toBe(second);
  });

  it('blocks no other session when one has a run that cannot be claimed', async () => {
    const sessionId = await aSession(core);
    await submitted(core, sessionId);
    const second = await submitted(core, sessionId);
    const healthy = await submitted(core, await aSession(core));
    await claim();
    // no command leads here; a row that somebody mended by hand might
    await core.database.inTransaction((manager) =>
      manager.query("UPDATE runs SET queue_state = 'ready', priority = -5 WHERE id = ?", [second]),
    );
    const claimed = [await core.claims.claimNext(), await core.claims.claimNext()].map((lease) => lease?.runId);
    expect(claimed).toContain(healthy);
    expect(claimed).not.toContain(second);
  });
}
