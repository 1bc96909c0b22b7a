import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentRun } from '../../../src/harness/ports/agent-run.js';
import { ALICE, aSession, logOf, storesUnderTest, submitted, until, useCore } from '../../support/core.js';
import { EngineEvents, FakeRuntime } from '../../support/fake-runtime.js';

const [store] = storesUnderTest();
const REASON = 'no longer needed';

/** Reasons until it is stopped. */
async function* endless({ run }: AgentRun, signal: AbortSignal) {
  const events = new EngineEvents(run);
  yield events.start('r1');
  for (let n = 1; ; n += 1) {
    yield events.text('r1', `${n} `);
    await sleep(5, undefined, { signal });
  }
}

/** Whoever writes the end of a cancelled run, it says why the run was cancelled. */
describe('the reason of a cancel', () => {
  const suite = useCore(store!, () => ({ runtime: new FakeRuntime(endless) }));

  async function runningRun(): Promise<{ sessionId: string; runId: string }> {
    const sessionId = await aSession(suite.core);
    await suite.core.worker.start();
    const runId = await submitted(suite.core, sessionId);
    await until('the run reasons', async () => (await logOf(suite.core, runId)).length > 3);
    return { sessionId, runId };
  }

  const cancel = (sessionId: string) => suite.core.runs.cancel(ALICE, { sessionId, requestId: 'stop', reason: REASON });

  async function expectEnd(runId: string): Promise<void> {
    await until('the run ended', async () => (await logOf(suite.core, runId)).at(-1)?.type === 'run_cancelled');
    expect((await logOf(suite.core, runId)).at(-1)).toMatchObject({ type: 'run_cancelled', reason: REASON });
  }

  it('is in the end of a queued run', async () => {
    const sessionId = await aSession(suite.core);
    const runId = await submitted(suite.core, sessionId);
    await cancel(sessionId);
    await expectEnd(runId);
  });

  it('is in the end of a running run', async () => {
    const { sessionId, runId } = await runningRun();
    await cancel(sessionId);
    await expectEnd(runId);
  });

  it('is in the end that a takeover writes', async () => {
    const sessionId = await aSession(suite.core);
    const runId = await submitted(suite.core, sessionId);
    await suite.core.claims.claimNext();
    await cancel(sessionId);
    await suite.core.takeover.takeOver(runId, undefined);
    await expectEnd(runId);
  });

  it('is in the end that a stop writes', async () => {
    const sessionId = await aSession(suite.core);
    const runId = await submitted(suite.core, sessionId);
    const claimed = await suite.core.claims.claimNext();
    await cancel(sessionId);
    await suite.core.ending.handBack(claimed!, { execMs: 1 });
    await expectEnd(runId);
  });
});
