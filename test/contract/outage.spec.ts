import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../src/common/app-error.js';
import type { Database } from '../../src/database/database.js';
import { aSession, logOf, runRow, submitted, typesIn, until, useCore, type Core } from '../support/core.js';
import { databasesUnderTest } from '../support/databases.js';
import { answers, EngineEvents, FakeRuntime, type Behaviour } from '../support/fake-runtime.js';

type Outage = 'none' | 'away' | 'answer lost' | 'answer to a command lost';

/** Takes the database away from the core, or only the answer of its commits. */
class Unplugged {
  outage: Outage = 'none';
  private readonly real: Database['inTransaction'];

  constructor(private readonly database: Database) {
    this.real = database.inTransaction.bind(database);
    database.inTransaction = async (work, lane) => {
      if (this.outage === 'away') {
        await sleep(20);
        throw unavailable();
      }
      const done = await this.real(work, lane);
      const isLost = this.outage === 'answer lost' || (this.outage !== 'none' && lane !== 'batch');
      if (isLost) throw unavailable();
      return done;
    };
  }

  restore(): void {
    this.database.inTransaction = this.real;
  }
}

const unavailable = (): AppError =>
  new AppError('STORE_UNAVAILABLE', 'the database does not answer', { retryAfterMs: 20 });

/** What becomes of a run whose database goes away in the middle of it. */
describe.each(databasesUnderTest())('a database that goes away, on $name', (store) => {
  const runtime = new FakeRuntime();
  const suite = useCore(store, () => ({ runtime }));
  let core: Core;
  let plug: Unplugged;
  let sessionId: string;

  beforeEach(async () => {
    core = suite.core;
    sessionId = await aSession(core);
    plug = new Unplugged(suite.database);
  });

  afterEach(() => plug.restore());

  const terminal = (types: readonly string[]): string[] =>
    types.filter((type) => /^run_(completed|failed)$/.test(type));

  /** Begins an answer, loses the database, and writes on. */
  const losesItAt = (outage: Outage): Behaviour =>
    async function* (run) {
      const events = new EngineEvents(run.run, `stream-${run.attempt}`);
      yield events.make('run_start', {});
      yield events.start('x');
      yield events.text('x', 'half an ');
      plug.outage = outage;
      yield events.toolStart('x', 'c1');
      throw new Error('no tool starts when its start is not durable');
    };

  it.each<Outage>(['away', 'answer lost'])('gives the run back as soon as it can (%s)', async (outage) => {
    runtime.behave = losesItAt(outage);
    const runId = await submitted(core, sessionId);
    const lease = (await core.claims.claimNext())!;
    const executing = core.executor.execute(lease);
    await until('an outage', () => plug.outage !== 'none');
    await sleep(100);
    expect(terminal(typesIn(await logOf(core, runId)))).toEqual([]);
    plug.outage = 'none';
    await executing;
    expect(await runRow(core.database, runId)).toMatchObject({
      status: 'queued',
    });
    expect((await logOf(core, runId)).at(-1)).toMatchObject({ type: 'recovered', attempt: 1 });
    runtime.behave = answers('done');
    await core.executor.execute((await core.claims.claimNext())!);
    const row = await runRow(core.database, runId);
    expect(row).toMatchObject({ status: 'completed', attempt: 1, takeovers: 0 });
    expect(terminal(typesIn(await logOf(core, runId)))).toEqual(['run_completed']);
  });

  it('leaves a run alone that has ended although the answer was lost', async () => {
    const answering = answers('done');
    runtime.behave = async function* (run, signal) {
      for await (const event of answering(run, signal)) {
        yield event;
        if (event.type === 'reason_end') plug.outage = 'answer to a command lost';
      }
    };
    const runId = await submitted(core, sessionId);
    const lease = (await core.claims.claimNext())!;
    const executing = core.executor.execute(lease);
    await until('an end', async () => terminal(typesIn(await logOf(core, runId))).length > 0);
    plug.outage = 'none';
    await executing;
    expect(terminal(typesIn(await logOf(core, runId)))).toEqual(['run_completed']);
    expect((await logOf(core, runId)).at(-1)?.type).toBe('run_completed');
  });

  it('writes nothing behind what was lost', async () => {
    const runId = await submitted(core, sessionId);
    const lease = (await core.claims.claimNext())!;
    const events = new EngineEvents({ runId, sessionId });
    const before = typesIn(await logOf(core, runId));
    plug.outage = 'away';
    const first = core.log.append(lease, events.start('x'));
    first.catch(() => undefined);
    // the next one waits behind the flush that is under way
    await sleep(5);
    const later = core.log.append(lease, events.text('x', 'a hole before it'));
    plug.outage = 'none';
    await expect(first).rejects.toMatchObject({ reason: 'STORE_UNAVAILABLE' });
    await expect(later).rejects.toMatchObject({ reason: 'STORE_UNAVAILABLE' });
    expect(typesIn(await logOf(core, runId))).toEqual(before);
  });
});
