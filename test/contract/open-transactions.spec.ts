import { setTimeout as sleep } from 'node:timers/promises';
import { flat } from '../support/flat.js';
import { ALICE, aMessage, aSession, runIdOf, until, logOf, typesIn, useCore } from '../support/core.js';
import { mysqlUnderTest } from '../support/databases.js';
import { EngineEvents, FakeRuntime, type Behaviour } from '../support/fake-runtime.js';

/** The server tells the same of its transactions as before unless nobody asked for 100 ms. */
const BETWEEN_LOOKS_MS = 250;

describe('while a run waits, on MySQL', () => {
  const runtime = new FakeRuntime();
  const suite = useCore(mysqlUnderTest(), () => ({ runtime }));

  const transactions = async (): Promise<readonly string[]> => {
    const rows = await suite.database.query<{ id: unknown }>(
      `SELECT t.trx_id AS id FROM information_schema.innodb_trx t
       JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id WHERE p.db = DATABASE()`,
    );
    return rows.map(({ id }) => String(id));
  };
  /** Transactions of this database that two looks in a row have seen. */
  const lasting = async (): Promise<readonly string[]> => {
    await sleep(BETWEEN_LOOKS_MS); // the look before this one may have been just now
    const before = await transactions();
    await sleep(BETWEEN_LOOKS_MS);
    return (await transactions()).filter((id) => before.includes(id));
  };

  /** Begins a reason, says or calls something, and waits until it is aborted. */
  const waits = (what: 'tool' | 'model'): Behaviour =>
    async function* (run, signal) {
      const events = new EngineEvents(run.run);
      const reasonId = events.reasonId();
      yield events.make('run_start', {});
      yield events.start(reasonId);
      yield what === 'tool' ? events.toolStart(reasonId, 'c1') : events.text(reasonId, 'a');
      await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    };

  it.each([
    ['a tool', 'tool', 'tool_call_start'],
    ['a model', 'model', 'reason_delta'],
  ] as const)('for %s, and its reader stalls, no transaction is open', async (_what, behaviour, type) => {
    runtime.behave = waits(behaviour);
    const { core } = suite;
    await core.worker.start();
    const sessionId = await aSession(core);
    const runId = runIdOf(await core.runs.submit(ALICE, aMessage(sessionId, { attached: true })));
    const stream = await core.runs.observe(ALICE, { sessionId, runId, after: 0, stopAtInput: false });
    const reader = flat(stream.pieces(new AbortController().signal))[Symbol.asyncIterator]();
    await reader.next();
    await until('the run waits', async () => typesIn(await logOf(core, runId)).includes(type));
    expect(await lasting()).toEqual([]);
    await core.runs.cancel(ALICE, { sessionId, requestId: 'stop' });
  });

  it('an open one would be seen', async () => {
    const { core } = suite;
    const sessionId = await aSession(core);
    await core.database.inTransaction(async (manager) => {
      await manager.query('UPDATE sessions SET updated_at = updated_at + 1 WHERE id = ?', [sessionId]);
      expect(await lasting()).toHaveLength(1);
    });
  });
});
