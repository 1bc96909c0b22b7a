import { jest } from '@jest/globals';
import type { LoggedEvent } from '../../src/events/projection.js';
import { lifecycleEvent } from '../../src/runs/log/lifecycle-events.js';
import type { Lease } from '../../src/runs/run.js';
import {
  ALICE,
  aMessage,
  aSession,
  finish,
  logOf,
  runIdOf,
  submitted,
  turns,
  typesIn,
  until,
  useCore,
  type Core,
  type StoreUnderTest,
} from '../support/core.js';
import { EngineEvents } from '../support/fake-runtime.js';
import { flat } from '../support/flat.js';

const patient = new AbortController().signal;

/** What a reader of runs gets: streams, pages, snapshots, histories. */
export function runReadingContract(store: StoreUnderTest): void {
  const suite = useCore(store);
  let core: Core;
  let sessionId: string;
  let runId: string;
  let lease: Lease;
  let events: EngineEvents;

  beforeEach(async () => {
    core = suite.core;
    sessionId = await aSession(core);
    runId = await submitted(core, sessionId);
    lease = (await core.claims.claimNext())!;
    events = new EngineEvents({ runId, sessionId });
  });

  const observe = (after: number, stopAtInput = false) =>
    core.runs.observe(ALICE, { sessionId, runId, after, stopAtInput });
  const collect = async (after: number, stopAtInput = false): Promise<LoggedEvent[]> => {
    const stream = await observe(after, stopAtInput);
    const seen: LoggedEvent[] = [];
    for await (const event of flat(stream.pieces(patient))) seen.push(event);
    return seen;
  };
  const ask = (): Promise<boolean> =>
    core.ending.finish(lease, { execMs: 1 }, (run) => [
      events.end('wait', 'pending'),
      lifecycleEvent(run, core.clock, 'input_required', {
        inputRequired: { questionId: 'q', mode: 'text', questions: [], tasks: [] },
      }),
    ]);
  const page = (cursor: number, changes: { limit?: number; waitMs?: number } = {}, signal = patient) =>
    core.runs.page(ALICE, { sessionId, runId, cursor, limit: 10, waitMs: 0, ...changes }, signal);

  describe('a stream', () => {
    it('gives what is after its cursor, now and later, and ends with the run', async () => {
      const [all, rest] = [collect(0), collect(2)];
      await turns();
      await core.log.append(lease, events.start('x'));
      await core.log.append(lease, events.answer('x', 'a'));
      await finish(core, lease);
      const log = await logOf(core, runId);
      expect(await all).toEqual(log);
      expect(await rest).toEqual(log.slice(2));
      expect(typesIn(log)).toEqual([
        'run_queued',
        'run_running',
        'reason_start',
        'reason_end',
        'run_end',
        'run_completed',
      ]);
    });

    it('knows that nothing will come behind the terminal event', async () => {
      await finish(core, lease);
      const stream = await observe(4);
      expect(stream.isOver).toBe(true);
      expect(await collect(4)).toEqual([]);
      expect((await observe(3)).isOver).toBe(false);
      expect(typesIn(await collect(3))).toEqual(['run_completed']);
    });

    it('ends at a question when its caller must answer, and stays open for everybody else', async () => {
      const [caller, other] = [collect(0, true), collect(0)];
      await ask();
      expect(typesIn(await caller)).toEqual(['run_queued', 'run_running', 'run_end', 'input_required']);
      // the same caller again, at the question: it is told once more
      expect(typesIn(await collect(4, true))).toEqual(['input_required']);
      await core.runs.cancel(ALICE, { sessionId, requestId: 'stop' });
      expect(typesIn(await other).slice(-2)).toEqual(['input_required', 'run_cancelled']);
    });

    it('refuses a cursor ahead of the run', async () => {
      await expect(observe(3)).rejects.toMatchObject({ reason: 'CURSOR_AHEAD', details: { last_id: 2 } });
      expect((await observe(2)).isOver).toBe(false);
    });

    it('ends when its reader leaves', async () => {
      const abort = new AbortController();
      const stream = await observe(0);
      const seen: number[] = [];
      const watching = (async () => {
        for await (const event of flat(stream.pieces(abort.signal))) seen.push(event.seq);
      })();
      await until('the first events', () => seen.length === 2);
      abort.abort();
      await watching;
      await finish(core, lease);
      expect(seen).toEqual([1, 2]);
    });
  });

  describe('a page', () => {
    it('holds so many events, and says whether there are more', async () => {
      const first = await page(0, { limit: 1 });
      expect([typesIn(first.events), first.nextCursor, first.hasMore]).toEqual([['run_queued'], 1, true]);
      const second = await page(1);
      expect([typesIn(second.events), second.nextCursor, second.hasMore]).toEqual([['run_running'], 2, false]);
      const third = await page(2);
      expect([third.events, third.nextCursor, third.hasMore]).toEqual([[], 2, false]);
      await expect(page(3)).rejects.toMatchObject({ reason: 'CURSOR_AHEAD' });
    });

    it('waits for news, and no longer', async () => {
      const waiting = page(2, { waitMs: 20_000 });
      await turns();
      await core.log.append(lease, events.start('x'));
      expect(typesIn((await waiting).events)).toEqual(['reason_start']);
      const inVain = await page(3, { waitMs: 30 });
      expect([inVain.events, inVain.nextCursor]).toEqual([[], 3]);
    });

    it('does not wait when its run is over, nor for a caller who left', async () => {
      const abort = new AbortController();
      const waiting = page(2, { waitMs: 20_000 }, abort.signal);
      await turns();
      abort.abort();
      expect((await waiting).events).toEqual([]);
      await finish(core, lease);
      const { run, hasMore } = await page(4, { waitMs: 20_000 });
      expect([run.status, run.lastSeq, hasMore]).toEqual(['completed', 4, false]);
    });

    it('listens to its run no longer than it waits', async () => {
      const listeners = new Set<object>();
      const watch = core.feeds.watch.bind(core.feeds);
      jest.spyOn(core.feeds, 'watch').mockImplementation((id, listener) => {
        listeners.add(listener);
        const leave = watch(id, listener);
        return () => {
          leave();
          listeners.delete(listener);
        };
      });
      const waiting = page(2, { waitMs: 20_000 });
      await until('the wait', () => listeners.size === 1);
      await core.log.append(lease, events.start('x'));
      await waiting;
      expect(listeners.size).toBe(0);
    });

    it('shows the run as it stands', async () => {
      expect((await page(0)).run).toMatchObject({
        status: 'running',
        code: 'PREPARING',
        stage: 'preparing',
        inputRequired: null,
        result: null,
        error: null,
        attempt: 1,
        mode: 'queue',
        queuePosition: null,
        endedAt: null,
      });
      const second = await submitted(core, sessionId);
      const third = await submitted(core, sessionId);
      const positions = await Promise.all(
        [second, third].map(async (id) => {
          const query = { sessionId, runId: id, cursor: 0, limit: 1, waitMs: 0 };
          return (await core.runs.page(ALICE, query, patient)).run.queuePosition;
        }),
      );
      expect(positions).toEqual([1, 2]);
      await ask();
      expect((await page(0)).run).toMatchObject({
        status: 'waiting_input',
        inputRequired: { questionId: 'q', mode: 'text' },
      });
    });
  });

  describe('a snapshot', () => {
    it('holds the newest runs, oldest first, and leads to those before', async () => {
      const runs = [runId];
      for (let n = 0; n < 3; n += 1) runs.push(await submitted(core, sessionId));
      const newest = await core.runs.snapshot(ALICE, sessionId, { runs: 2, events: false });
      expect(newest.runs.map(({ run }) => run.facts.runId)).toEqual(runs.slice(2));
      expect([newest.lastRunId, newest.lastStatus, newest.hasMoreRuns]).toEqual([runs[3], 'queued', true]);
      const before = await core.runs.snapshot(ALICE, sessionId, { runs: 2, before: runs[2]!, events: false });
      expect(before.runs.map(({ run }) => run.facts.runId)).toEqual(runs.slice(0, 2));
      expect(before.hasMoreRuns).toBe(false);
      expect(newest.session).toMatchObject({
        id: sessionId,
        status: 'running',
        activeRunId: runId,
        lastRunId: runs[3],
      });
    });

    it('is empty for a session without runs', async () => {
      const empty = await core.runs.snapshot(ALICE, await aSession(core), { runs: 5, events: true });
      expect(empty).toMatchObject({ lastRunId: null, lastStatus: null, runs: [], hasMoreRuns: false });
    });

    it('tells who asked what and what was answered', async () => {
      await core.log.append(lease, events.start('x'));
      await core.runs.cancel(ALICE, { sessionId, requestId: 'stop', reason: 'enough' });
      await core.takeover.takeOver(runId, undefined);
      const { runs } = await core.runs.snapshot(ALICE, sessionId, { runs: 1, events: true });
      expect(runs[0]!.requests).toMatchObject([
        { action: 'message', text: 'hi', mode: 'queue', actor: 'alice', disposition: 'started', appliedAtEvent: 1 },
        { action: 'cancel', requestId: 'stop', mode: null, disposition: 'cancelling', appliedAtEvent: 4 },
      ]);
      expect(runs[0]!.responses).toMatchObject([
        { kind: 'accepted', eventId: 1 },
        { kind: 'cancelled', eventId: 6 },
      ]);
      expect(runs[0]!.events).toEqual(await logOf(core, runId));
    });
  });

  it('a history holds every run of a session in order, without deltas', async () => {
    await core.log.append(lease, events.start('x'));
    await core.log.append(lease, events.text('x', 'a'));
    await core.log.append(lease, events.answer('x', 'a'));
    await finish(core, lease);
    const second = runIdOf(await core.runs.submit(ALICE, aMessage(sessionId)));
    const history = await core.runs.history(ALICE, sessionId);
    expect(history.map(({ facts }) => facts.runId)).toEqual([runId, second]);
    expect(typesIn(history[0]!.events)).toEqual([
      'run_queued',
      'run_running',
      'reason_start',
      'reason_end',
      'run_end',
      'run_completed',
    ]);
    expect(history[0]!.facts).toMatchObject({ tenantId: 't1', userId: 'alice', agentName: 'harness_agent' });
  });
}
