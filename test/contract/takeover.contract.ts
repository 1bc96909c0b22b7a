import { jest } from '@jest/globals';
import type { Database } from '../../src/database/database.js';
import { HeldRuns } from '../../src/runs/execution/held-runs.js';
import { FlagPoll } from '../../src/runs/execution/flag-poll.js';
import type { Lease } from '../../src/runs/run.js';
import { FencedError } from '../../src/runs/ports/event-log.port.js';
import { RunHints } from '../../src/runs/ports/run-hints.port.js';
import { NEVER } from 'rxjs';
import {
  ALICE,
  aSession,
  finish,
  logOf,
  runRow,
  submitted,
  turns,
  typesIn,
  until,
  useCore,
  type Core,
  type StoreUnderTest,
} from '../support/core.js';
import { FakeRenewal } from '../support/fake-renewal.js';
import { answers, EngineEvents, FakeRuntime, hangs } from '../support/fake-runtime.js';

/** Hints that nobody ever hears. */
class NoHints extends RunHints {
  readonly hints$ = NEVER;
  publish(): void {
    // lost
  }
}

/** What happens to runs whose worker dies, stops, or is slow to hear. */
export function takeoverContract(store: StoreUnderTest): void {
  const runtime = new FakeRuntime();
  const suite = useCore(store, () => ({ runtime }));
  let core: Core;
  let sessionId: string;

  beforeEach(async () => {
    core = suite.core;
    runtime.behave = answers('done');
    runtime.inputs.length = 0;
    sessionId = await aSession(core);
  });

  const claim = async (): Promise<Lease> => (await core.claims.claimNext())!;
  const begin = async (): Promise<{ lease: Lease; events: EngineEvents; runId: string }> => {
    const runId = await submitted(core, sessionId);
    return { runId, lease: await claim(), events: new EngineEvents({ runId, sessionId }) };
  };

  it('counts each refused end once, also where transactions share a commit and are repeated', async () => {
    const { runId, lease } = await begin();
    await core.takeover.takeOver(runId, undefined);
    const cancel = (): Promise<void> => core.ending.cancel(lease, { execMs: 1 });
    const outcomes = await Promise.allSettled([cancel(), cancel()]);
    expect(outcomes).toMatchObject([{ reason: expect.any(FencedError) }, { reason: expect.any(FencedError) }]);
    expect(await core.metrics.registry.metrics()).toContain('bridle_fenced_writes_total 2\n');
  });

  describe('a lost run', () => {
    it('is closed in its log and queued again, for the next attempt', async () => {
      const { runId, lease, events } = await begin();
      await core.log.append(lease, events.start('x'));
      await core.log.append(lease, events.thinking('x', 'hm'));
      await core.log.append(lease, events.text('x', 'half an'));
      await core.log.append(lease, events.text('x', ' answer'));
      const written = await core.takeover.takeOver(runId, undefined);
      const log = await logOf(core, runId);
      expect(written).toEqual(log.slice(-2));
      expect(written).toMatchObject([
        {
          type: 'reason_end',
          reasonId: 'x',
          text: 'half an answer',
          thinking: 'hm',
          toolCalls: [],
          interrupted: 'recovered',
          status: 'running',
        },
        { type: 'recovered', attempt: 2, discardAfter: 2, status: 'queued', code: 'RUN_QUEUED' },
      ]);
      const row = await runRow(core.database, runId);
      expect(row).toMatchObject({
        status: 'queued',
        queueState: 'ready',
        activeSessionId: sessionId,
        leaseOwner: null,
        takeovers: 1,
      });
      const next = await claim();
      expect(next).toEqual({ runId, epoch: lease.epoch + 2 });
      expect((await logOf(core, runId)).at(-1)).toMatchObject({ type: 'run_running', attempt: 2 });
    });

    it('marks a tool call that was under way as unknown, and keeps whole answers', async () => {
      const { runId, lease, events } = await begin();
      const call = { callId: 'c1', providerCallId: 'p1', toolName: 'now', args: {} };
      await core.log.append(lease, events.start('x'));
      await core.log.append(lease, events.answer('x', 'let me see', [call]));
      await core.log.append(lease, events.toolStart('x', 'c1'));
      const written = await core.takeover.takeOver(runId, undefined);
      expect(written).toMatchObject([
        { type: 'tool_call_end', callId: 'c1', outcome: 'unknown', error: { code: 'WORKER_LOST' } },
        { type: 'recovered', discardAfter: 6 },
      ]);
    });

    it('refuses everything that its dead holder still writes', async () => {
      const { runId, lease, events } = await begin();
      await core.takeover.takeOver(runId, undefined);
      await expect(core.log.append(lease, events.start('x'))).rejects.toBeInstanceOf(FencedError);
      await expect(finish(core, lease)).rejects.toBeInstanceOf(FencedError);
      await expect(core.ending.handBack(lease, { execMs: 1 })).rejects.toBeInstanceOf(FencedError);
      expect(await core.metrics.registry.metrics()).toMatch(/^bridle_fenced_writes_total 3$/m);
      const next = await claim();
      await expect(finish(core, lease)).rejects.toBeInstanceOf(FencedError);
      await finish(core, next);
      await expect(finish(core, lease)).rejects.toBeInstanceOf(FencedError);
      expect(typesIn(await logOf(core, runId)).filter((type) => type === 'run_completed')).toHaveLength(1);
    });

    it('ends as cancelled when it was being cancelled, and keeps what it said', async () => {
      const { runId, lease, events } = await begin();
      await core.log.append(lease, events.start('x'));
      await core.log.append(lease, events.text('x', 'half'));
      await core.runs.cancel(ALICE, { sessionId, requestId: 'stop' });
      expect(await core.takeover.takeOver(runId, undefined)).toMatchObject([
        { type: 'reason_end', text: 'half', interrupted: 'cancelled', status: 'cancelling' },
        { type: 'run_cancelled', status: 'cancelled' },
      ]);
      expect(await core.claims.claimNext()).toBeUndefined();
    });

    it('fails at the third loss in a row without progress', async () => {
      const { runId, events } = await begin();
      let held: Lease | undefined;
      for (let loss = 1; loss <= 2; loss += 1) {
        await core.takeover.takeOver(runId, undefined);
        held = await claim();
      }
      await core.log.append(held!, events.start('x'));
      await core.log.append(held!, events.text('x', 'half'));
      await core.log.append(held!, events.toolStart('x', 'c1'));
      expect(await runRow(core.database, runId)).toMatchObject({ attempt: 3, takeovers: 2 });
      const written = await core.takeover.takeOver(runId, undefined);
      expect(written).toMatchObject([
        { type: 'reason_end', text: 'half', interrupted: 'cancelled' },
        { type: 'tool_call_end', callId: 'c1', outcome: 'unknown', error: { code: 'WORKER_LOST' } },
        { type: 'run_failed', status: 'failed', code: 'WORKER_LOST', error: { code: 'WORKER_LOST', retryable: true } },
      ]);
      expect(await runRow(core.database, runId)).toMatchObject({ status: 'failed', activeSessionId: null });
    });

    it('is forgiven its losses when it makes progress', async () => {
      const { runId, lease, events } = await begin();
      let held = lease;
      for (let loss = 1; loss <= 4; loss += 1) {
        await core.log.append(held, events.start(`x${loss}`));
        await core.log.append(held, events.answer(`x${loss}`, 'a'));
        await core.takeover.takeOver(runId, undefined);
        held = await claim();
      }
      await finish(core, held);
      expect(await runRow(core.database, runId)).toMatchObject({ status: 'completed', attempt: 5 });
    });

    it('is taken over once, by whoever comes first', async () => {
      const { runId } = await begin();
      const others = [core, await suite.another(), await suite.another()];
      const results = await Promise.all(others.map((other) => other.takeover.takeOver(runId, Date.now() + 60_000)));
      expect(results.filter((events) => events.length > 0)).toHaveLength(1);
      expect(typesIn(await logOf(core, runId)).filter((type) => type === 'recovered')).toHaveLength(1);
    });
  });

  describe('the reaper', () => {
    it('leaves a run alone while its lease is good, and takes it when it is not', async () => {
      const { runId } = await begin();
      await core.reaper.round();
      expect((await runRow(core.database, runId)).status).toBe('running');
      await core.database.inTransaction((manager) =>
        manager.query('UPDATE runs SET lease_until = lease_until - 3600000 WHERE id = ?', [runId]),
      );
      const hints: string[] = [];
      const watching = core.hints.hints$.subscribe((hint) =>
        hints.push(`${hint.events?.map(({ type }) => type).join()}`),
      );
      await core.reaper.round();
      watching.unsubscribe();
      expect(hints).toEqual(['recovered']);
      expect(await runRow(core.database, runId)).toMatchObject({ status: 'queued', attempt: 2 });
    });

    it('does not stop at a run that cannot be closed', async () => {
      const bad = await begin();
      const good = await submitted(core, await aSession(core));
      await claim();
      await core.database.inTransaction(async (manager) => {
        await manager.query('UPDATE runs SET lease_until = 1');
        // its next number is taken: the log of this run cannot be written
        await manager.query('UPDATE runs SET last_seq = 0 WHERE id = ?', [bad.runId]);
      });
      await core.reaper.round();
      expect((await runRow(core.database, good)).status).toBe('queued');
      expect(core.logger.lines.filter((line) => line.level === 'error')).toHaveLength(1);
    });

    it('expires what has lived too long, and gives its place away', async () => {
      const runId = await submitted(core, sessionId);
      const second = await submitted(core, sessionId);
      await core.database.inTransaction((manager) =>
        manager.query('UPDATE runs SET created_at = 1 WHERE id = ?', [runId]),
      );
      await core.reaper.round();
      expect(await runRow(core.database, runId)).toMatchObject({ status: 'expired', code: 'RUN_TTL_EXCEEDED' });
      expect((await claim()).runId).toBe(second);
    });

    it('ends a cancelled run whose agent does not obey, once its grace is over', async () => {
      let letGo = (): void => undefined;
      const stubborn = new FakeRuntime(async function* (run) {
        yield new EngineEvents(run.run).make('run_start', {});
        await new Promise<void>((resolve) => (letGo = resolve));
      });
      const slow = await suite.another({ runtime: stubborn });
      await slow.worker.start();
      const runId = await submitted(slow, sessionId, { attached: true });
      await until('the start', async () => (await logOf(core, runId)).length === 3);
      await slow.runs.cancel(ALICE, { sessionId, requestId: 'stop', reason: 'enough' });
      await slow.reaper.round();
      expect((await runRow(core.database, runId)).status).toBe('cancelling');
      await core.database.inTransaction((manager) => manager.query('UPDATE runs SET cancel_requested_at = 1'));
      await slow.reaper.round();
      expect((await logOf(core, runId)).at(-1)).toMatchObject({ type: 'run_cancelled', reason: 'enough' });
      letGo();
      await until('the executor', () => slow.held.size === 0);
      expect(typesIn(await logOf(core, runId)).filter((type) => type === 'run_cancelled')).toHaveLength(1);
    });

    it('renews the leases of living runs', async () => {
      const quick = await suite.another({
        runtime: new FakeRuntime(hangs('a')),
        variables: { BRIDLE_RUNS_LEASE_MS: '1000', BRIDLE_RUNS_HEARTBEAT_MS: '100', BRIDLE_RUNS_REAPER_MS: '100' },
      });
      await quick.worker.start();
      const runId = await submitted(quick, sessionId, { attached: true });
      await new Promise((resolve) => setTimeout(resolve, 1500));
      expect(await runRow(core.database, runId)).toMatchObject({ status: 'running', attempt: 1, epoch: 1 });
    });
  });

  describe('a process', () => {
    it('goes on with what a dead one left: the model sees neither its half answer nor its end twice', async () => {
      const dead = await suite.another({ runtime: new FakeRuntime(hangs('half')) });
      await dead.worker.start();
      const runId = await submitted(dead, sessionId, { attached: true });
      await until('a delta', async () => (await logOf(core, runId)).some((event) => event.type === 'reason_delta'));
      await core.database.inTransaction((manager) => manager.query('UPDATE runs SET lease_until = 1'));
      await core.worker.start();
      await core.reaper.round();
      await until('the end', async () => (await runRow(core.database, runId)).endedAt !== null);
      const log = await logOf(core, runId);
      expect(log.at(-1)).toMatchObject({ type: 'run_completed', result: { data: { text: 'done' } } });
      expect(runtime.inputs).toMatchObject([
        { attempt: 2, trace: { turnsTaken: 0, messages: [{ role: 'user' }], openCalls: undefined } },
      ]);
    });

    it('hands its runs back when it stops: no attempt is lost', async () => {
      const stopping = await suite.another({ runtime: new FakeRuntime(hangs('half')) });
      await stopping.worker.start();
      const runId = await submitted(stopping, sessionId, { attached: true });
      await until('a delta', async () => (await logOf(core, runId)).some((event) => event.type === 'reason_delta'));
      await new Promise((resolve) => setTimeout(resolve, 10));
      await stopping.worker.stop(0);
      const row = await runRow(core.database, runId);
      expect(row).toMatchObject({ status: 'queued', attempt: 1, takeovers: 0, leaseOwner: null });
      expect(row.execMs).toBeGreaterThan(0);
      await core.worker.start();
      await until('the end', async () => (await runRow(core.database, runId)).endedAt !== null);
      expect(await runRow(core.database, runId)).toMatchObject({ status: 'completed', attempt: 1 });
    });

    it('hands a run back whose agent does not obey, and refuses what that one still says', async () => {
      let goOn = (): void => undefined;
      let isOver = false;
      const stubborn = new FakeRuntime(async function* (run) {
        const events = new EngineEvents(run.run);
        yield events.make('run_start', {});
        await new Promise<void>((resolve) => (goOn = resolve));
        await run.inputs.mayEnd(events.end('late')).catch(() => undefined);
        isOver = true;
      });
      const stopping = await suite.another({ runtime: stubborn });
      await stopping.worker.start();
      const runId = await submitted(stopping, sessionId, { attached: true });
      await until('the start', async () => (await logOf(core, runId)).length === 3);
      await stopping.worker.stop(0);
      expect(await runRow(core.database, runId)).toMatchObject({ status: 'queued', attempt: 1, leaseOwner: null });
      goOn();
      await until('the late agent', () => isOver);
      expect(typesIn(await logOf(core, runId)).at(-1)).toBe('recovered');
    });

    it('refuses what an agent still says after the end of its run, under the same epoch too', async () => {
      let goOn = (): void => undefined;
      let outcome: unknown;
      const stubborn = new FakeRuntime(async function* (run) {
        const events = new EngineEvents(run.run);
        yield events.make('run_start', {});
        await new Promise<void>((resolve) => (goOn = resolve));
        outcome = await run.inputs.mayEnd(events.end('late')).catch((error: unknown) => error);
        yield events.make('run_start', {});
      });
      const slow = await suite.another({ runtime: stubborn, variables: { BRIDLE_RUNS_CANCEL_GRACE_MS: '100' } });
      await slow.worker.start();
      const runId = await submitted(slow, sessionId, { attached: true });
      await until('the start', async () => (await logOf(core, runId)).length === 3);
      await slow.runs.cancel(ALICE, { sessionId, requestId: 'stop' });
      await until('the end', async () => (await runRow(core.database, runId)).endedAt !== null);
      const log = await logOf(core, runId);
      expect(await runRow(core.database, runId)).toMatchObject({ status: 'cancelled', epoch: 1 });
      goOn();
      await until('the late agent', () => outcome !== undefined);
      await turns();
      expect(outcome).toBeInstanceOf(FencedError);
      expect(await logOf(core, runId)).toEqual(log);
    });

    it('does not begin a run that it was told to let go while it read what it needs', async () => {
      const { runId, lease } = await begin();
      const load = core.contexts.load.bind(core.contexts);
      jest.spyOn(core.contexts, 'load').mockImplementation(async (id) => {
        const context = await load(id);
        for (const held of core.held.all()) held.stop('drain');
        return context;
      });
      let end = (): void => undefined;
      runtime.behave = async function* () {
        await new Promise<void>((resolve) => (end = resolve));
      };
      const executing = core.executor.execute(lease);
      await Promise.race([executing, until('the agent', () => runtime.inputs.length > 0)]);
      expect(runtime.inputs.length).toBe(0);
      await executing;
      end();
      expect(await runRow(core.database, runId)).toMatchObject({ status: 'queued', attempt: 1, leaseOwner: null });
    });

    it('finishes its claims before it stops', async () => {
      const stopping = await suite.another({ runtime: new FakeRuntime(hangs('half')) });
      const runs = [];
      for (let n = 0; n < 3; n += 1) runs.push(await submitted(core, await aSession(core)));
      await stopping.worker.start();
      const late = submitted(stopping, sessionId, { attached: true });
      await stopping.worker.stop(0);
      for (const runId of [...runs, await late]) {
        expect(await runRow(core.database, runId)).toMatchObject({ status: 'queued', leaseOwner: null });
      }
      expect(stopping.held.size).toBe(0);
    });

    it('hears of a cancel without any hint', async () => {
      const deaf = await suite.another({
        hints: new NoHints(),
        runtime: new FakeRuntime(hangs('half')),
        variables: { BRIDLE_RUNS_FLAG_POLL_MS: '50' },
      });
      await deaf.worker.start();
      const runId = await submitted(core, sessionId);
      deaf.dispatcher.announce();
      await until('a delta', async () => (await logOf(core, runId)).some((event) => event.type === 'reason_delta'));
      await core.runs.cancel(ALICE, { sessionId, requestId: 'stop' });
      await until('the end', async () => (await runRow(core.database, runId)).endedAt !== null);
      expect((await logOf(core, runId)).slice(-2)).toMatchObject([
        { type: 'reason_end', text: 'half', interrupted: 'cancelled' },
        { type: 'run_cancelled' },
      ]);
    });

    it('asks for the flags of all its runs in one query, however many they are', async () => {
      const going = await begin();
      const otherSession = await aSession(core);
      const cancelled = await submitted(core, otherSession);
      const cancelledLease = await claim();
      await core.runs.cancel(ALICE, { sessionId: otherSession, requestId: 'stop' });
      const held = new HeldRuns(new NoHints(), new FakeRenewal());
      const gone = Array.from({ length: 2000 }, (_, n) => held.hold({ runId: `gone-${n}`, epoch: 1 }));
      const goingRun = held.hold(going.lease);
      const cancelledRun = held.hold(cancelledLease);
      let queries = 0;
      const counting = Object.create(core.database, {
        query: {
          value: (sql: string, parameters: unknown[]) => {
            queries += 1;
            return core.database.query(sql, parameters);
          },
        },
      }) as Database;
      await new FlagPoll(counting, held, core.config, core.logger).readFlags();
      expect(queries).toBe(1);
      expect(goingRun.signal.aborted).toBe(false);
      expect(cancelledRun.signal.reason).toMatchObject({ reason: 'cancel' });
      expect(gone.every((run) => run.signal.aborted)).toBe(true);
      expect((await runRow(core.database, cancelled)).status).toBe('cancelling');
    });

    it('lets go of a run that somebody else has taken', async () => {
      const slow = await suite.another({
        hints: new NoHints(),
        runtime: new FakeRuntime(hangs('half')),
        variables: { BRIDLE_RUNS_FLAG_POLL_MS: '50' },
      });
      await slow.worker.start();
      const runId = await submitted(slow, sessionId, { attached: true });
      await until('a delta', async () => (await logOf(core, runId)).some((event) => event.type === 'reason_delta'));
      await core.takeover.takeOver(runId, undefined);
      await until('the old holder', () => slow.held.size === 0);
      expect(typesIn(await logOf(core, runId)).at(-1)).toBe('recovered');
    });
  });

  if (!store.name.startsWith('mysql')) {
    it('takes over every leased run at once when it starts: nobody else can hold one', async () => {
      const { runId } = await begin();
      const cancelling = await submitted(core, await aSession(core));
      await claim();
      const sessions = await runRow(core.database, cancelling);
      await core.runs.cancel(ALICE, { sessionId: sessions.sessionId, requestId: 'stop' });
      const restarted = await suite.another({ runtime });
      await restarted.worker.start();
      await until('the end', async () => (await runRow(core.database, runId)).endedAt !== null);
      expect(await runRow(core.database, runId)).toMatchObject({ status: 'completed', attempt: 2 });
      expect((await runRow(core.database, cancelling)).status).toBe('cancelled');
    });
  }
}
