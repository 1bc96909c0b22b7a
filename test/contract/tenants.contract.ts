import type { Principal } from '../../src/auth/principal.js';
import { AppError } from '../../src/common/app-error.js';
import {
  ALICE,
  aMessage,
  aSession,
  finish,
  submitted,
  useCore,
  type Core,
  type StoreUnderTest,
} from '../support/core.js';

const BOB: Principal = { ...ALICE, tenantId: 't2', subject: 'bob' };
const TABLES = ['sessions', 'app_states', 'user_states', 'runs', 'run_events', 'run_inputs', 'requests', 'resources'];

/** A tenant sees nothing of another and changes nothing of it, whatever ids it knows. */
export function tenantsContract(store: StoreUnderTest): void {
  const suite = useCore(store);
  let core: Core;
  let sessionId: string;
  let over: string;
  let running: string;
  let waiting: string;

  beforeEach(async () => {
    core = suite.core;
    sessionId = await aSession(core);
    over = await submitted(core, sessionId, { requestId: 'first' });
    await finish(core, (await core.claims.claimNext())!);
    running = await submitted(core, sessionId, { onDisconnect: 'cancel' });
    await core.claims.claimNext();
    waiting = await submitted(core, sessionId, { onDisconnect: 'cancel' });
    await core.sessions.createNamed(
      ALICE,
      { appName: 'app', userId: 'u', externalId: 'named' },
      { 'app:a': 1, 'user:u': 2 },
    );
  });

  const everything = async (): Promise<unknown> => {
    const tables = [];
    for (const table of TABLES) tables.push(await core.database.query(`SELECT * FROM ${table} ORDER BY 1, 2`));
    return tables;
  };

  const attempts: [string, AppError['reason'], () => Promise<unknown>][] = [
    ['read the session', 'SESSION_NOT_FOUND', () => core.sessions.get(BOB, sessionId)],
    [
      'find the session by its name',
      'SESSION_NOT_FOUND',
      () => core.sessions.findNamed(BOB, { appName: 'app', userId: 'u', externalId: 'named' }),
    ],
    ['send a message', 'SESSION_NOT_FOUND', () => core.runs.submit(BOB, aMessage(sessionId))],
    [
      'repeat a message',
      'SESSION_NOT_FOUND',
      () => core.runs.submit(BOB, aMessage(sessionId, { requestId: 'first', attached: true })),
    ],
    ['cancel', 'SESSION_NOT_FOUND', () => core.runs.cancel(BOB, { sessionId, requestId: 'stop' })],
    [
      'cancel a run',
      'SESSION_NOT_FOUND',
      () => core.runs.cancel(BOB, { sessionId, requestId: 'stop', runId: waiting }),
    ],
    ['close the session', 'SESSION_NOT_FOUND', () => core.runs.closeSession(BOB, sessionId)],
    [
      'import events',
      'SESSION_NOT_FOUND',
      () => core.runs.importEvents(BOB, sessionId, { events: [], stateDelta: { a: 1 } }),
    ],
    ['take a snapshot', 'SESSION_NOT_FOUND', () => core.runs.snapshot(BOB, sessionId, { runs: 5, events: true })],
    [
      'observe a run',
      'SESSION_NOT_FOUND',
      () => core.runs.observe(BOB, { sessionId, runId: over, after: 0, stopAtInput: false }),
    ],
    [
      'read a page of a run',
      'SESSION_NOT_FOUND',
      () =>
        core.runs.page(BOB, { sessionId, runId: over, cursor: 0, limit: 10, waitMs: 0 }, new AbortController().signal),
    ],
  ];

  it.each(attempts)('cannot %s', async (_what, reason, attempt) => {
    const before = await everything();
    await expect(attempt()).rejects.toMatchObject({ reason });
    expect(await everything()).toEqual(before);
  });

  it('gets nothing in its lists, and its going away ends nothing', async () => {
    const before = await everything();
    expect((await core.sessions.list(BOB, { limit: 10 })).sessions).toEqual([]);
    expect(await core.sessions.listNamed(BOB, 'app', 'u')).toEqual([]);
    expect(await core.runs.history(BOB, sessionId)).toEqual([]);
    await core.runs.disconnected(BOB, running);
    await core.runs.disconnected(BOB, waiting);
    expect(await everything()).toEqual(before);
  });

  it('has names, request ids and states of its own', async () => {
    const named = { appName: 'app', userId: 'u', externalId: 'named' };
    const session = await core.sessions.createNamed(BOB, named);
    expect(session.mergedState).toEqual({});
    const [mine, theirs] = [
      await core.sessions.create(ALICE, { agent: 'harness_agent', requestId: 'same' }),
      await core.sessions.create(BOB, { agent: 'harness_agent', requestId: 'same' }),
    ];
    expect([mine.replayed, theirs.replayed]).toEqual([false, false]);
    expect(theirs.session.id).not.toBe(mine.session.id);
    const runs = await core.runs.submit(BOB, aMessage(theirs.session.id, { requestId: 'first' }));
    expect(runs.disposition).toBe('started');
  });

  it('knows no run through the session of another', async () => {
    const own = await aSession(core, BOB);
    for (const runId of [over, running, waiting]) {
      const query = { sessionId: own, runId, after: 0, stopAtInput: false };
      await expect(core.runs.observe(BOB, query)).rejects.toMatchObject({ reason: 'RUN_NOT_FOUND' });
      await expect(core.runs.cancel(BOB, { sessionId: own, requestId: 'stop', runId })).rejects.toMatchObject({
        reason: 'RUN_NOT_ACTIVE',
        details: { active_run_id: null },
      });
    }
    const before = { runs: 1, before: over, events: false };
    await expect(core.runs.snapshot(BOB, own, before)).rejects.toMatchObject({ reason: 'RUN_NOT_FOUND' });
  });
}
