import type { Principal } from '../../src/auth/principal.js';
import type { LoggedEvent } from '../../src/events/projection.js';
import { lifecycleEvent } from '../../src/runs/log/lifecycle-events.js';
import type { Lease } from '../../src/runs/run.js';
import type { Receipt } from '../../src/runs/runs.types.js';
import {
  ALICE,
  aMessage,
  aSession,
  finish,
  logOf,
  runIdOf,
  runRow,
  submitted,
  typesIn,
  until,
  useCore,
  type Core,
  type StoreUnderTest,
} from '../support/core.js';
import { answers, FakeRuntime, hangs } from '../support/fake-runtime.js';
import { propertyRuns } from '../support/property-runs.js';
import { flat } from '../support/flat.js';

const LIMITS = { BRIDLE_RUNS_MAX_QUEUED_PER_SESSION: '3', BRIDLE_RUNS_MAX_QUEUED_PER_TENANT: '5' };
const BOB: Principal = { ...ALICE, tenantId: 't2', subject: 'bob' };

/** What the commands of `RunsService` promise. */
export function runCommandsContract(store: StoreUnderTest): void {
  const runtime = new FakeRuntime();
  const suite = useCore(store, () => ({ runtime }));
  let core: Core;
  let sessionId: string;

  beforeEach(async () => {
    core = suite.core;
    runtime.behave = answers('done');
    sessionId = await aSession(core);
  });

  const claim = async (): Promise<Lease> => (await core.claims.claimNext())!;
  const stop = (changes: { runId?: string; requestId?: string } = {}): Promise<Receipt> =>
    core.runs.cancel(ALICE, { sessionId, requestId: 'stop', ...changes });
  const runCount = async (): Promise<number> =>
    Number((await core.database.query<{ n: number }>('SELECT COUNT(*) AS n FROM runs'))[0]!.n);
  const isOver = async (runId: string): Promise<boolean> => (await runRow(core.database, runId)).endedAt !== null;

  describe('submit', () => {
    it('makes a run of a message: started when the session is idle, queued behind another', async () => {
      const message = aMessage(sessionId, { parts: [{ kind: 'text', text: 'hi' }] });
      const receipt = await core.runs.submit(ALICE, message);
      expect(receipt).toEqual({
        accepted: true,
        sessionId,
        runId: expect.any(String),
        requestId: message.requestId,
        action: 'message',
        mode: 'queue',
        disposition: 'started',
        status: 'queued',
        code: 'RUN_QUEUED',
        stage: 'queued',
        queuePosition: 0,
        cursor: 1,
      });
      const second = await core.runs.submit(ALICE, aMessage(sessionId));
      expect(second).toMatchObject({ disposition: 'queued', queuePosition: 1, cursor: 1 });
      const log = await logOf(core, runIdOf(receipt));
      expect(log).toEqual([
        expect.objectContaining({
          type: 'run_queued',
          seq: 1,
          queuePosition: 0,
          input: { requestId: message.requestId, parts: [{ kind: 'text', text: 'hi' }] },
        }),
      ]);
      expect(await runRow(core.database, runIdOf(second))).toMatchObject({
        ord: 2,
        queueState: 'blocked',
        language: 'en',
      });
    });

    it('answers a repeated request with the first outcome, and never makes a second run', async () => {
      const message = aMessage(sessionId);
      const first = await core.runs.submit(ALICE, message);
      await finish(core, await claim());
      const again = await core.runs.submit(ALICE, message);
      expect(again).toEqual({ ...first, disposition: 'replayed' });
      const parallel = aMessage(sessionId, { requestId: 'parallel' });
      const receipts = await Promise.all(Array.from({ length: 8 }, () => core.runs.submit(ALICE, parallel)));
      expect(new Set(receipts.map(runIdOf)).size).toBe(1);
      expect(receipts.filter((receipt) => receipt.disposition !== 'replayed')).toHaveLength(1);
      expect(await runCount()).toBe(2);
    });

    it('tells another body from a repeated one, and knows a URL that was signed anew', async () => {
      const message = aMessage(sessionId);
      await core.runs.submit(ALICE, message);
      const other = core.runs.submit(ALICE, { ...message, parts: [{ kind: 'text', text: 'bye' }] });
      await expect(other).rejects.toMatchObject({ reason: 'REQUEST_ID_CONFLICT' });
      const elsewhere = await core.runs.submit(ALICE, { ...message, sessionId: await aSession(core) });
      expect(elsewhere.disposition).toBe('started');

      const vision = (await core.sessions.create(ALICE, { agent: 'vision_agent' })).session.id;
      const withUrl = (query: string) =>
        aMessage(vision, {
          requestId: 'signed',
          parts: [{ kind: 'resource', resource: { kind: 'url', url: `https://pictures.example.org/a.png?${query}` } }],
        });
      const first = await core.runs.submit(ALICE, withUrl('sig=1'));
      expect(await core.runs.submit(ALICE, withUrl('sig=2'))).toEqual({ ...first, disposition: 'replayed' });
    });

    it('lines up messages that come at once, one of them ready', async () => {
      const receipts = await Promise.all(Array.from({ length: 8 }, () => core.runs.submit(ALICE, aMessage(sessionId))));
      const rows = await Promise.all(receipts.map((receipt) => runRow(core.database, runIdOf(receipt))));
      expect(rows.map((row) => row.ord).toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
      expect(receipts.map((receipt) => receipt.queuePosition).toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
      expect(rows.filter((row) => row.queueState === 'ready').map((row) => row.ord)).toEqual([1]);
    });

    it('refuses in mode reject while anything of the session lives; the id may be used again', async () => {
      const runId = await submitted(core, sessionId);
      const message = aMessage(sessionId, { mode: 'reject' });
      await expect(core.runs.submit(ALICE, message)).rejects.toMatchObject({
        reason: 'SESSION_BUSY',
        details: { active_run_id: runId },
      });
      await finish(core, await claim());
      expect(await core.runs.submit(ALICE, message)).toMatchObject({ disposition: 'started', mode: 'reject' });
    });

    it('limits what waits in a session and in a tenant, and no other tenant', async () => {
      const small = await suite.another({ variables: LIMITS });
      for (let n = 0; n < 3; n += 1) await submitted(small, sessionId);
      await expect(submitted(small, sessionId)).rejects.toMatchObject({ reason: 'QUEUE_FULL', retryAfterMs: 1000 });
      const next = await aSession(small);
      await submitted(small, next);
      await submitted(small, next);
      await expect(submitted(small, await aSession(small))).rejects.toMatchObject({ reason: 'QUEUE_FULL' });
      const foreign = await aSession(small, BOB);
      expect((await small.runs.submit(BOB, aMessage(foreign))).disposition).toBe('started');
      await small.claims.claimNext();
      await submitted(small, next);
    });

    it.each([
      ['without a request id', { requestId: undefined }, 'REQUEST_ID_REQUIRED'],
      ['without content', { parts: [{ kind: 'text', text: '' }] }, 'INVALID_BODY'],
      ['without parts', { parts: undefined }, 'INVALID_BODY'],
      ['with an id of blanks', { requestId: ' x' }, 'ID_INVALID'],
      ['with a time zone that is none', { timeZone: 'Mars/Olympus' }, 'TIME_ZONE_INVALID'],
      ['that interrupts', { mode: 'interrupt' }, 'NOT_IMPLEMENTED'],
      ['that rolls back', { mode: 'rollback' }, 'NOT_IMPLEMENTED'],
      ['with a capability that the session lacks', { capabilities: ['vision'] }, 'CAPABILITY_NOT_ENABLED'],
      [
        'with a picture that the session may not have',
        { parts: [{ kind: 'resource', resource: { kind: 'url', url: 'https://example.org/a.png' } }] },
        'CAPABILITY_NOT_ENABLED',
      ],
      ['for a session that never was', { sessionId: 'nobody' }, 'SESSION_NOT_FOUND'],
    ] as const)('refuses a message %s', async (_what, changes, reason) => {
      const command = { ...aMessage(sessionId), ...changes } as never;
      await expect(core.runs.submit(ALICE, command)).rejects.toMatchObject({ reason });
      expect(await runCount()).toBe(0);
    });

    it('starts an attached run at once when a place is free, else queues it', async () => {
      const small = await suite.another({ runtime, variables: { BRIDLE_RUNS_WORKER_CONCURRENCY: '1' } });
      runtime.behave = hangs('a');
      const noWorker = await small.runs.submit(ALICE, aMessage(await aSession(small), { attached: true }));
      expect((await runRow(small.database, runIdOf(noWorker))).status).toBe('queued');
      await small.runs.cancel(ALICE, { sessionId: noWorker.sessionId, requestId: 'stop' });
      await small.worker.start();

      await expect(small.runs.submit(ALICE, aMessage('nobody', { attached: true }))).rejects.toThrow();
      const first = await small.runs.submit(ALICE, aMessage(sessionId, { attached: true }));
      expect(first).toMatchObject({ disposition: 'started', status: 'queued', cursor: 1 });
      expect(await runRow(small.database, runIdOf(first))).toMatchObject({ status: 'running', attempt: 1, epoch: 1 });
      const second = await small.runs.submit(ALICE, aMessage(await aSession(small), { attached: true }));
      expect((await runRow(small.database, runIdOf(second))).status).toBe('queued');
      runtime.behave = answers('done');
      await small.runs.cancel(ALICE, { sessionId, requestId: 'stop' });
      await until('the second run', () => isOver(runIdOf(second)));
      expect((await runRow(small.database, runIdOf(second))).status).toBe('completed');
    });

    it('keeps the state that comes with a message, and the language of its text', async () => {
      const receipt = await core.runs.submit(ALICE, {
        ...aMessage(sessionId, { parts: [{ kind: 'text', text: '你好' }] }),
        stateDelta: { a: 1, 'app:b': 2, 'user:c': 3, 'temp:d': 4 },
      });
      const second = await submitted(core, sessionId);
      expect((await core.sessions.get(ALICE, sessionId)).mergedState).toEqual({ a: 1, 'app:b': 2, 'user:c': 3 });
      expect((await logOf(core, runIdOf(receipt)))[0]).toMatchObject({ stateDelta: { a: 1, 'app:b': 2, 'user:c': 3 } });
      expect((await runRow(core.database, second)).language).toBe('zh');
    });

    it('takes nothing while the process stops', async () => {
      await core.worker.start();
      await core.worker.stop(0);
      await expect(submitted(core, sessionId)).rejects.toMatchObject({ reason: 'DRAINING' });
    });
  });

  describe('cancel', () => {
    it('ends a queued run at once', async () => {
      const runId = await submitted(core, sessionId);
      expect(await stop()).toMatchObject({
        action: 'cancel',
        disposition: 'cancelled',
        runId,
        status: 'cancelled',
        cursor: 2,
      });
      expect(await logOf(core, runId)).toMatchObject([
        { type: 'run_queued' },
        { type: 'run_cancelled', status: 'cancelled' },
      ]);
      expect(await core.claims.claimNext()).toBeUndefined();
    });

    it('asks a running one to stop, once', async () => {
      const runId = await submitted(core, sessionId);
      const lease = await claim();
      expect(await stop()).toMatchObject({ disposition: 'cancelling', runId, status: 'cancelling', cursor: 3 });
      expect(await stop({ requestId: 'again', runId })).toMatchObject({ disposition: 'cancelling', runId, cursor: 3 });
      expect(typesIn(await logOf(core, runId))).toEqual(['run_queued', 'run_running', 'cancelling']);
      expect((await runRow(core.database, runId)).cancelRequestedAt).not.toBeNull();
      await core.ending.breakOff(lease, { execMs: 5 }, (run) =>
        lifecycleEvent(run, core.clock, 'run_cancelled', { reason: null, artifacts: [], usage: run.usage }),
      );
      expect(await runRow(core.database, runId)).toMatchObject({
        status: 'cancelled',
        cancelRequestedAt: null,
        execMs: 5,
      });
    });

    it('ends a run that waits for its human', async () => {
      const runId = await submitted(core, sessionId);
      await core.ending.finish(await claim(), { execMs: 1 }, (run) => [
        lifecycleEvent(run, core.clock, 'input_required', {
          inputRequired: { questionId: 'q', mode: 'text', questions: [], tasks: [] },
        }),
      ]);
      expect((await core.sessions.get(ALICE, sessionId)).status).toBe('waiting_input');
      expect(await stop()).toMatchObject({ disposition: 'cancelled', runId, status: 'cancelled' });
      expect((await core.sessions.get(ALICE, sessionId)).status).toBe('idle');
    });

    it('changes nothing when nothing runs, and says so', async () => {
      expect(await stop()).toMatchObject({ disposition: 'noop', runId: null, status: null });
      const runId = await submitted(core, sessionId);
      await finish(core, await claim());
      expect(await stop({ runId })).toMatchObject({ disposition: 'noop', runId });
      expect(typesIn(await logOf(core, runId)).at(-1)).toBe('run_completed');
    });

    it('refuses a run that the session does not have', async () => {
      const runId = await submitted(core, sessionId);
      await expect(stop({ runId: 'nobody' })).rejects.toMatchObject({
        reason: 'RUN_NOT_ACTIVE',
        details: { active_run_id: runId },
      });
    });

    it('answers a repeated request as before, and refuses its id for another one', async () => {
      const first = await submitted(core, sessionId);
      const second = await submitted(core, sessionId);
      const receipt = await stop();
      expect(await stop()).toEqual({ ...receipt, disposition: 'replayed' });
      expect((await runRow(core.database, first)).status).toBe('cancelled');
      expect((await runRow(core.database, second)).status).toBe('queued');
      await expect(stop({ runId: second })).rejects.toMatchObject({ reason: 'REQUEST_ID_CONFLICT' });
    });

    it(`leaves one terminal event when it races the completion, ${propertyRuns(200)} times`, async () => {
      await core.worker.start();
      const ends: Record<string, number> = {};
      for (let n = 0; n < propertyRuns(200); n += 1) {
        const session = await aSession(core);
        const runId = await submitted(core, session, { attached: n % 2 === 0 });
        if (n % 3 > 0) await until('a start', async () => (await logOf(core, runId)).length > (n % 3) * 2);
        const receipt = await core.runs.cancel(ALICE, { sessionId: session, requestId: 'stop', runId });
        await until('the end', () => isOver(runId));
        const log = await logOf(core, runId);
        const last = log.at(-1)!;
        const row = await runRow(core.database, runId);
        expect(log.map((event) => event.seq)).toEqual(log.map((_event, index) => index + 1));
        expect(log.filter(isEnd)).toEqual([last]);
        expect(row).toMatchObject({
          status: last.status,
          code: last.code,
          terminalSeq: last.seq,
          lastSeq: last.seq,
          activeSessionId: null,
        });
        if (receipt.disposition === 'noop') expect(last.type).toBe('run_completed');
        ends[`${receipt.disposition} ${last.type}`] = (ends[`${receipt.disposition} ${last.type}`] ?? 0) + 1;
      }
      expect(Object.keys(ends).length).toBeGreaterThan(1);
    });
  });

  describe('disconnected', () => {
    it('cancels a run whose client went away, when the run says so', async () => {
      runtime.behave = hangs('a');
      await core.worker.start();
      const cancelled = await submitted(core, sessionId, { attached: true, onDisconnect: 'cancel' });
      const going = await submitted(core, await aSession(core), { attached: true, onDisconnect: 'continue' });
      await core.runs.disconnected(BOB, cancelled);
      expect((await runRow(core.database, cancelled)).status).toBe('running');
      await Promise.all([core.runs.disconnected(ALICE, cancelled), core.runs.disconnected(ALICE, going)]);
      await until('the end', () => isOver(cancelled));
      await core.runs.disconnected(ALICE, cancelled);
      await core.runs.disconnected(ALICE, 'nobody');
      const log = await logOf(core, cancelled);
      expect(log.find((event) => event.type === 'cancelling')).toMatchObject({ reason: 'the client disconnected' });
      expect(log.at(-1)?.type).toBe('run_cancelled');
      expect((await runRow(core.database, going)).status).toBe('running');
    });
  });

  describe('closing a session', () => {
    it('cancels what runs, hides everything at once and erases it', async () => {
      runtime.behave = hangs('half an ans', 'wer');
      await core.worker.start();
      const running = await submitted(core, sessionId, { attached: true });
      await submitted(core, sessionId);
      await until('deltas', async () => (await logOf(core, running)).some((event) => event.type === 'reason_delta'));
      const stream = await core.runs.observe(ALICE, { sessionId, runId: running, after: 0, stopAtInput: false });
      const seen: LoggedEvent[] = [];
      const watching = (async () => {
        for await (const event of flat(stream.pieces(new AbortController().signal))) seen.push(event);
      })();
      await core.runs.closeSession(ALICE, sessionId);
      for (const use of [
        () => core.sessions.get(ALICE, sessionId),
        () => core.runs.snapshot(ALICE, sessionId, { runs: 1, events: true }),
        () => core.runs.submit(ALICE, aMessage(sessionId)),
        () => core.runs.cancel(ALICE, { sessionId, requestId: 'late' }),
        () => core.runs.importEvents(ALICE, sessionId, { events: [] }),
        () => core.runs.closeSession(ALICE, sessionId),
        () => core.runs.observe(ALICE, { sessionId, runId: running, after: 0, stopAtInput: false }),
      ]) {
        await expect(use()).rejects.toMatchObject({ reason: 'SESSION_CLOSED' });
      }
      await watching;
      expect(seen.at(-1)).toMatchObject({ type: 'run_cancelled' });
      const small = await suite.another({ variables: { BRIDLE_RUNS_REAPER_MS: '100' } });
      small.closing.start();
      await until('everything is erased', async () => {
        const counts = await Promise.all(
          ['runs', 'run_events', 'run_inputs', 'requests'].map((table) =>
            core.database.query<{ n: number }>(`SELECT COUNT(*) AS n FROM ${table}`),
          ),
        );
        return counts.every((rows) => Number(rows[0]!.n) === 0);
      });
      await expect(core.sessions.get(ALICE, sessionId)).rejects.toMatchObject({ reason: 'SESSION_CLOSED' });
    });

    it('frees the name that the session had, and touches no neighbour', async () => {
      const named = { appName: 'app', userId: 'u', externalId: 'mine' };
      const first = await core.sessions.createNamed(ALICE, named, { a: 1 });
      await expect(core.sessions.createNamed(ALICE, named)).rejects.toMatchObject({ reason: 'SESSION_EXISTS' });
      const neighbour = await submitted(core, sessionId);
      await core.runs.closeSession(ALICE, first.id);
      await expect(core.sessions.findNamed(ALICE, named)).rejects.toMatchObject({ reason: 'SESSION_NOT_FOUND' });
      const second = await core.sessions.createNamed(ALICE, named);
      expect(second.id).not.toBe(first.id);
      expect((await core.sessions.findNamed(ALICE, named)).id).toBe(second.id);
      expect((await runRow(core.database, neighbour)).status).toBe('queued');
    });
  });

  describe('importing events', () => {
    const said = (text: string, stateDelta?: object) => ({
      author: 'user',
      content: { role: 'user', parts: [{ text }] },
      ...(stateDelta === undefined ? {} : { actions: { stateDelta } }),
    });

    it('writes them as a run that is over, with the state that they carry', async () => {
      const before = await submitted(core, sessionId);
      await core.runs.importEvents(ALICE, sessionId, {
        events: [said('one', { a: 1, 'user:u': 2, 'temp:t': 3 }), said('two', { a: 2 })] as never,
        stateDelta: { b: 1, 'temp:x': 1 },
      });
      await finish(core, await claim());
      const history = await core.runs.history(ALICE, sessionId);
      expect(history.map(({ events }) => typesIn(events))).toEqual([
        ['run_queued', 'run_running', 'run_end', 'run_completed'],
        ['run_queued', 'run_running', 'imported', 'imported', 'state_delta', 'run_completed'],
      ]);
      expect(history[1]!.events[2]).toMatchObject({ event: said('one', { a: 1, 'user:u': 2 }) });
      expect(history[1]!.events[4]).toMatchObject({ delta: { b: 1 } });
      expect((await core.sessions.get(ALICE, sessionId)).mergedState).toEqual({ a: 2, b: 1, 'user:u': 2 });
      const snapshot = await core.runs.snapshot(ALICE, sessionId, { runs: 10, events: false });
      expect(snapshot.runs.map(({ run }) => run.facts.runId)).toEqual([before]);
    });
  });
}

function isEnd(event: LoggedEvent): boolean {
  return ['run_completed', 'run_failed', 'run_cancelled', 'run_expired'].includes(event.type);
}
