import { checkDatabase } from '../../src/boot/start-up-checks.js';
import type { Clock } from '../../src/common/clock.js';
import { Retention } from '../../src/runs/queue/retention.js';
import {
  ALICE,
  aSession,
  finish,
  logOf,
  runRow,
  storesUnderTest,
  submitted,
  typesIn,
  until,
  useCore,
} from '../support/core.js';
import { EngineEvents, FakeRuntime, hangs } from '../support/fake-runtime.js';

const DAY_MS = 24 * 60 * 60_000;
const PLAIN = { BRIDLE_EVENTS_COALESCE: 'false' };

describe.each(storesUnderTest())('what a server does beside runs, on $name', (store) => {
  const suite = useCore(store, () => ({ variables: PLAIN }));

  const later = (days: number): Retention => {
    const { core } = suite;
    const clock: Clock = { nowMs: () => Date.now() + days * DAY_MS };
    return new Retention(core.database, clock, core.logger, core.config);
  };

  const aFinishedRun = async (deltas: number): Promise<{ sessionId: string; runId: string }> => {
    const { core } = suite;
    const sessionId = await aSession(core);
    const runId = await submitted(core, sessionId);
    const lease = (await core.claims.claimNext())!;
    const events = new EngineEvents({ runId, sessionId });
    await core.log.append(lease, events.start('x'));
    await Promise.all(Array.from({ length: deltas }, () => core.log.append(lease, events.text('x', 'a'))));
    await core.log.append(lease, events.answer('x', 'a'.repeat(deltas)));
    await finish(core, lease);
    return { sessionId, runId };
  };

  it('checks the database before it works with it', async () => {
    const { core } = suite;
    const checks = await checkDatabase(suite.database, core.config, core.clock);
    expect(checks.filter((check) => !check.isGood)).toEqual([]);
    expect(checks.map((check) => check.name)).toEqual(expect.arrayContaining(['database', 'schema']));
  });

  it('makes old logs smaller, and says so to late readers', async () => {
    const { core } = suite;
    const { sessionId, runId } = await aFinishedRun(5);
    const waiting = await submitted(core, sessionId);
    await later(0).round();
    expect((await logOf(core, runId)).length).toBe(11);

    await later(2).round();
    expect(typesIn(await logOf(core, runId))).toEqual([
      'run_queued',
      'run_running',
      'reason_start',
      'reason_end',
      'run_end',
      'run_completed',
    ]);
    const page = (cursor: number) =>
      core.runs.page(ALICE, { sessionId, runId, cursor, limit: 10, waitMs: 0 }, new AbortController().signal);
    await expect(page(0)).rejects.toMatchObject({ reason: 'CURSOR_EXPIRED', details: { oldest_cursor: 10 } });
    expect(typesIn((await page(10)).events)).toEqual(['run_completed']);

    await later(31).round();
    expect(typesIn(await logOf(core, runId))).toEqual(['run_completed']);
    expect((await page(10)).run.result).toEqual({ type: 'text', data: { text: '' } });
    expect(typesIn(await logOf(core, waiting))).toEqual(['run_queued']);
    expect((await runRow(core.database, runId)).eventsKept).toBe('terminal');
  });

  it('goes on until no old log is left, also a long one', async () => {
    const { core } = suite;
    const { runId } = await aFinishedRun(2100);
    for (let n = 0; n < 205; n += 1) {
      await core.database.inTransaction((manager) =>
        manager.query(
          `INSERT INTO runs (id, tenant_id, session_id, ord, kind, agent, invocation_id, status, code, stage, language, on_disconnect, capabilities, queue_state, available_at, exec_ms, token_usage, events_kept, created_at, ended_at, terminal_seq)
           VALUES (?, 't1', 'old', ?, 'message', 'a', 'e', 'completed', 'RUN_COMPLETED', 'completed', 'en', 'continue', '[]', 'none', 1, 0, '{}', 'all', 1, 1, 1)`,
          [`old-${n}`, n + 1],
        ),
      );
    }
    await later(2).round();
    const left = await core.database.query("SELECT id FROM runs WHERE events_kept = 'all'");
    expect(left).toEqual([]);
    expect((await logOf(core, runId)).filter((event) => event.type === 'reason_delta')).toEqual([]);
    expect(core.logger.lines).toEqual([]);
  });

  const runWithin = async (maxExecMs: string): Promise<string> => {
    const runtime = new FakeRuntime(hangs('half'));
    const core = await suite.another({ runtime, variables: { BRIDLE_RUNS_MAX_EXEC_MS: maxExecMs } });
    await core.worker.start();
    const runId = await submitted(core, await aSession(core), { attached: true });
    await until('a delta', async () => (await logOf(core, runId)).some((event) => event.type === 'reason_delta'));
    return runId;
  };

  it('ends a run that takes longer than it may', async () => {
    const runId = await runWithin('1000');
    await until('the end', async () => (await runRow(suite.database, runId)).endedAt !== null);
    expect((await logOf(suite.core, runId)).slice(-2)).toMatchObject([
      { type: 'reason_end', text: 'half', interrupted: 'cancelled' },
      { type: 'run_failed', error: { code: 'BUDGET_EXCEEDED', details: { limit: 'runs.maxExecMs', text: 'half' } } },
    ]);
  });

  it('does not take a limit of months for none', async () => {
    const runId = await runWithin('9000000000');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await runRow(suite.database, runId)).status).toBe('running');
  });
});
