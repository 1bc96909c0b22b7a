import type { HarnessEvent } from '../../src/events/harness-event.js';
import { lifecycleEvent } from '../../src/runs/log/lifecycle-events.js';
import { lockRunAndSession, writeLifecycle } from '../../src/runs/log/run-rows.js';
import type { RunHint } from '../../src/runs/ports/run-hints.port.js';
import type { Lease } from '../../src/runs/run.js';
import {
  ALICE,
  aSession,
  logOf,
  runRow,
  submitted,
  until,
  useCore,
  type Core,
  type StoreUnderTest,
} from '../support/core.js';
import { EngineEvents } from '../support/fake-runtime.js';

const MONTHS_MS = 90 * 24 * 3600 * 1000;

/** How runs with sub-agents are closed: when their worker is lost, and while they wait for a human. */
export function openWorkContract(store: StoreUnderTest): void {
  const suite = useCore(store);
  let core: Core;
  let sessionId: string;
  let runId: string;
  let lease: Lease;
  let events: EngineEvents;
  let child: EngineEvents;

  /** A run whose call `c1` runs a sub-agent. */
  beforeEach(async () => {
    core = suite.core;
    sessionId = await aSession(core);
    runId = await submitted(core, sessionId);
    lease = (await core.claims.claimNext())!;
    events = new EngineEvents({ runId, sessionId });
    child = events.ofChild('c1');
    const call = { callId: 'c1', providerCallId: 'p1', toolName: 'task', args: {} };
    await append(events.start('x'), events.answer('x', '', [call]), events.toolStart('x', 'c1'));
  });

  const append = async (...made: readonly HarnessEvent[]): Promise<void> => {
    for (const event of made) await core.log.append(lease, event);
  };

  /** The sub-agent waits for a human, and with it the run. */
  const suspend = async (): Promise<void> => {
    await append(child.start('y'), child.answer('y', ''), child.toolStart('y', 'cc'));
    await append(events.make('hitl_pending', { pendingTasks: [], questions: [] }));
    await core.ending.finish(lease, { execMs: 1 }, (run) => [
      events.end('', 'pending'),
      lifecycleEvent(run, core.clock, 'input_required', {
        inputRequired: { questionId: 'q', mode: 'text', questions: [], tasks: [] },
      }),
    ]);
  };

  /** A human has answered; somebody takes the run up again. */
  const resume = async (): Promise<void> => {
    await core.database.inTransaction(async (manager) => {
      const run = (await lockRunAndSession(core.database, manager, runId))!;
      const fields = { requestId: null, questionId: 'q', open: false };
      await writeLifecycle(manager, run, [lifecycleEvent(run, core.clock, 'answer_accepted', fields)]);
    });
    lease = (await core.claims.claimNext())!;
    expect(lease.runId).toBe(runId);
  };

  it('gives up a task whose worker is lost, with all that its sub-agent had begun', async () => {
    for (let turn = 1; turn <= 230; turn += 1) await append(child.start(`y${turn}`), child.answer(`y${turn}`, 'more'));
    await append(child.start('z'), child.text('z', 'half'), child.toolStart('y1', 'cc'));
    const written = await core.takeover.takeOver(runId, undefined);
    expect(written).toMatchObject([
      { type: 'reason_end', reasonId: 'z', text: 'half', interrupted: 'cancelled', parent: { taskId: 'c1.1' } },
      { type: 'tool_call_end', callId: 'cc', outcome: 'unknown', runId: 'child of c1', agentName: 'helper' },
      { type: 'tool_call_end', callId: 'c1', outcome: 'unknown', runId, error: { code: 'WORKER_LOST' } },
      { type: 'recovered' },
    ]);
    // nothing of the run itself is void
    expect(written.at(-1)).toMatchObject({ discardAfter: written.at(-1)!.seq - 1 });
    expect((await logOf(core, runId)).slice(-4)).toEqual(written);
  });

  it('leaves a call open in which a human was waited for, when the worker is lost before it goes on', async () => {
    await suspend();
    await resume();
    expect(await core.takeover.takeOver(runId, undefined)).toMatchObject([{ type: 'recovered' }]);
  });

  it('gives that call up when the worker is lost after it went on', async () => {
    await suspend();
    await resume();
    await append(events.toolStart('x', 'c1'), child.toolStart('y', 'cc'));
    expect(await core.takeover.takeOver(runId, undefined)).toMatchObject([
      { type: 'tool_call_end', callId: 'cc', outcome: 'unknown' },
      { type: 'tool_call_end', callId: 'c1', outcome: 'unknown' },
      { type: 'recovered' },
    ]);
  });

  it('closes a run that is cancelled while it waits, and whoever watches it sees every event', async () => {
    await suspend();
    const hints: RunHint[] = [];
    const subscription = core.hints.hints$.subscribe((hint) => hints.push(hint));
    await core.runs.cancel(ALICE, { sessionId, requestId: 'stop' });
    const end = [
      { type: 'tool_call_end', callId: 'cc', outcome: 'cancelled', parent: { taskId: 'c1.1' } },
      { type: 'tool_call_end', callId: 'c1', outcome: 'cancelled' },
      { type: 'run_cancelled' },
    ];
    expect((await logOf(core, runId)).slice(-3)).toMatchObject(end);
    expect(hints).toMatchObject([{ runId, events: end }]);
    subscription.unsubscribe();
  });

  it('closes a run that waits until its time is over', async () => {
    await suspend();
    await core.database.inTransaction((manager) =>
      manager.query('UPDATE runs SET created_at = created_at - ? WHERE id = ?', [MONTHS_MS, runId]),
    );
    await core.reaper.round();
    await until('the end', async () => (await runRow(core.database, runId)).status === 'expired');
    expect((await logOf(core, runId)).slice(-3)).toMatchObject([
      { type: 'tool_call_end', callId: 'cc', outcome: 'cancelled', error: { code: 'RUN_EXPIRED' } },
      { type: 'tool_call_end', callId: 'c1', outcome: 'cancelled', error: { code: 'RUN_EXPIRED' } },
      { type: 'run_expired' },
    ]);
  });

  it('counts the tokens of sub-agents as those of their run', async () => {
    const { usage } = await runRow(core.database, runId);
    await append(child.answer('y', 'a'), child.ofChild('cc').answer('z', 'b'));
    const after = (await runRow(core.database, runId)).usage;
    expect([after.inputTokens - usage.inputTokens, after.outputTokens - usage.outputTokens]).toEqual([20, 10]);
  });
}
