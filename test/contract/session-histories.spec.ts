import { jest } from '@jest/globals';
import { SessionHistories } from '../../src/runs/reading/session-histories.js';
import type { Lease } from '../../src/runs/run.js';
import { EngineEvents } from '../support/fake-runtime.js';
import { aSession, finish, storesUnderTest, submitted, useCore } from '../support/core.js';

describe.each(storesUnderTest())('session histories on $name', (store) => {
  const suite = useCore(store);
  let histories: SessionHistories;
  let sessionId: string;

  beforeEach(async () => {
    histories = new SessionHistories(suite.database);
    sessionId = await aSession(suite.core);
  });

  const fresh = (ord: number) => new SessionHistories(suite.database).upTo(sessionId, ord);
  const ask = (text: string) => submitted(suite.core, sessionId, { parts: [{ kind: 'text', text }] });
  const claim = async (): Promise<Lease> => (await suite.core.claims.claimNext())!;
  const answer = async (lease: Lease, text: string): Promise<void> => {
    const events = new EngineEvents({ runId: lease.runId, sessionId });
    await suite.core.log.append(lease, events.start('r1'));
    await suite.core.log.append(lease, events.answer('r1', text));
    await finish(suite.core, lease, text);
  };
  const turn = async (text: string): Promise<void> => {
    await ask(text);
    await answer(await claim(), `to ${text}`);
  };

  it('gives at every turn what a fresh reading gives', async () => {
    for (let ord = 1; ord <= 4; ord += 1) {
      await ask(`question ${ord}`);
      const lease = await claim();
      const history = await histories.upTo(sessionId, ord);
      expect(history).toEqual(await fresh(ord));
      expect(history.filter((event) => event.type === 'run_queued')).toHaveLength(ord);
      await answer(lease, `answer ${ord}`);
    }
  });

  it('reads the rows of an ended turn once', async () => {
    for (const text of ['a', 'b', 'c']) await turn(text);
    await ask('d');
    await histories.upTo(sessionId, 4);
    await answer(await claim(), 'to d');
    const query = jest.spyOn(suite.database, 'query');
    const history = await histories.upTo(sessionId, 4);
    const read = (await query.mock.results.at(-1)?.value) as readonly unknown[];
    query.mockRestore();
    expect(history).toEqual(await fresh(4));
    expect([history.length, read.length]).toEqual([8, 2]);
  });

  it('keeps nothing of a turn that has not ended', async () => {
    await turn('a');
    await ask('b');
    const lease = await claim();
    await ask('c');
    // as a run would that overtook the one before it
    const before = await histories.upTo(sessionId, 3);
    await answer(lease, 'late');
    await ask('d');
    const after = await histories.upTo(sessionId, 4);
    expect(after).toEqual(await fresh(4));
    expect(after.length).toBe(before.length + 2);
  });

  it('shows no later turn to an earlier run', async () => {
    for (const text of ['a', 'b', 'c']) await turn(text);
    await histories.upTo(sessionId, 3);
    expect(await histories.upTo(sessionId, 1)).toEqual(await fresh(1));
  });
});
