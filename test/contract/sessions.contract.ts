import type { JsonObject } from '../../src/common/json.js';
import type { CreateSession } from '../../src/sessions/sessions.types.js';
import { ALICE, aMessage, aSession, submitted, useCore, type Core, type StoreUnderTest } from '../support/core.js';

/** What sessions promise: creation once, names of their own, lists without holes, scoped state without lost changes. */
export function sessionsContract(store: StoreUnderTest): void {
  const suite = useCore(store);
  let core: Core;

  beforeEach(() => {
    core = suite.core;
  });

  const create = (command: CreateSession = {}) => core.sessions.create(ALICE, command);

  describe('creating', () => {
    it('makes a session of the default agent, with all that it can do, for the caller', async () => {
      const { session, replayed } = await create();
      expect(replayed).toBe(false);
      expect(session).toMatchObject({
        tenantId: 't1',
        appName: 'vision_agent',
        userId: 'alice',
        externalId: session.id,
        capabilities: ['image_generation', 'vision'],
        clientReference: null,
        timeZone: null,
        status: 'idle',
        activeRunId: null,
        lastRunId: null,
        mergedState: {},
        version: 1,
      });
      expect(await core.sessions.get(ALICE, session.id)).toEqual(session);
    });

    it('keeps what it is told', async () => {
      const state = { a: 1, 'app:b': [2], 'user:c': { d: 3 }, 'temp:e': 4 };
      const { session } = await create({
        agent: 'vision_agent',
        userId: 'bob',
        capabilities: ['vision', 'vision'],
        clientReference: 'order 7',
        timeZone: 'Asia/Shanghai',
        state,
      });
      expect(session).toMatchObject({
        userId: 'bob',
        capabilities: ['vision'],
        clientReference: 'order 7',
        timeZone: 'Asia/Shanghai',
        mergedState: { a: 1, 'app:b': [2], 'user:c': { d: 3 } },
      });
      // the app's state is every session's, the user's only that of the same user
      expect((await create({ userId: 'bob' })).session.mergedState).toEqual({ 'app:b': [2], 'user:c': { d: 3 } });
      expect((await create({ userId: 'eve' })).session.mergedState).toEqual({ 'app:b': [2] });
    });

    it('loses no change and refuses nobody when many write into one state at once', async () => {
      const names = Array.from({ length: 60 }, (_, n) => `n${n}`);
      const state = Object.fromEntries(names.flatMap((n) => [[`app:${n}`, n] as const, [`user:${n}`, n] as const]));
      await Promise.all(names.map((n) => create({ state: { [`app:${n}`]: n, [`user:${n}`]: n } })));
      expect((await create()).session.mergedState).toEqual(state);
    });

    it('answers a repeated request with the same session, also when they come at once', async () => {
      const command: CreateSession = { agent: 'harness_agent', requestId: 'q', state: { a: 1 } };
      const all = await Promise.all(Array.from({ length: 8 }, () => create(command)));
      expect(new Set(all.map(({ session }) => session.id)).size).toBe(1);
      expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1);
      expect((await core.sessions.list(ALICE, { limit: 10 })).sessions).toHaveLength(1);
      await expect(create({ ...command, state: { a: 2 } })).rejects.toMatchObject({ reason: 'REQUEST_ID_CONFLICT' });
    });

    it.each<[CreateSession, string]>([
      [{ agent: 'nobody' }, 'AGENT_NOT_FOUND'],
      [{ agent: 'harness_agent', capabilities: ['vision'] }, 'CAPABILITY_NOT_ENABLED'],
      [{ userId: ' ' }, 'ID_INVALID'],
      [{ clientReference: 'a'.repeat(129) }, 'ID_INVALID'],
      [{ requestId: '' }, 'ID_INVALID'],
      [{ timeZone: '+08:00' }, 'TIME_ZONE_INVALID'],
    ])('refuses %j with %s', async (command, reason) => {
      await expect(create(command)).rejects.toMatchObject({ reason });
      expect((await core.sessions.list(ALICE, { limit: 10 })).sessions).toEqual([]);
    });
  });

  describe('named sessions', () => {
    const named = { appName: 'an app', userId: 'u', externalId: 'mine' };

    it('are found by their name, once', async () => {
      const session = await core.sessions.createNamed(ALICE, named, { a: 1 });
      expect(session).toMatchObject({ ...named, mergedState: { a: 1 } });
      expect((await core.sessions.findNamed(ALICE, named)).id).toBe(session.id);
      const again = await Promise.allSettled(Array.from({ length: 4 }, () => core.sessions.createNamed(ALICE, named)));
      expect(again.map((each) => each.status === 'rejected' && (each.reason as { reason: string }).reason)).toEqual(
        Array.from({ length: 4 }, () => 'SESSION_EXISTS'),
      );
      await expect(core.sessions.findNamed(ALICE, { ...named, userId: 'U' })).rejects.toMatchObject({
        reason: 'SESSION_NOT_FOUND',
      });
    });

    it('are told apart byte by byte', async () => {
      const ids = ['é', 'e\u0301', 'É', 'straße', 'strasse', '😀'];
      for (const externalId of ids) await core.sessions.createNamed(ALICE, { ...named, externalId });
      const found = await core.sessions.listNamed(ALICE, 'an app', 'u');
      expect(found.map((session) => session.externalId)).toEqual(ids);
    });

    it('get an id when they bring none', async () => {
      const session = await core.sessions.createNamed(ALICE, { appName: 'an app', userId: 'u' });
      expect(session.externalId).toMatch(/^[0-9a-f-]{36}$/);
    });
  });

  describe('lists', () => {
    it('go through all sessions, newest first, page by page', async () => {
      const ids: string[] = [];
      for (let n = 0; n < 7; n += 1) ids.unshift(await aSession(core));
      const seen: string[] = [];
      let pageToken: string | undefined;
      do {
        const page = await core.sessions.list(ALICE, { limit: 3, ...(pageToken === undefined ? {} : { pageToken }) });
        seen.push(...page.sessions.map((session) => session.id));
        expect(page.hasMore).toBe(page.nextPageToken !== null);
        pageToken = page.nextPageToken ?? undefined;
      } while (pageToken !== undefined);
      expect(seen).toEqual(ids);
      await expect(core.sessions.list(ALICE, { limit: 3, pageToken: 'x' })).rejects.toMatchObject({
        reason: 'CURSOR_INVALID',
      });
    });

    it('find a reference of the client, and leave deleted sessions out', async () => {
      const wanted = (await create({ clientReference: 'r' })).session.id;
      const deleted = (await create({ clientReference: 'r' })).session.id;
      await create({ clientReference: 'R' });
      await core.runs.closeSession(ALICE, deleted);
      const list = await core.sessions.list(ALICE, { limit: 10, clientReference: 'r' });
      expect(list.sessions.map((session) => session.id)).toEqual([wanted]);
    });

    it('say what runs in each session', async () => {
      const [idle, busy] = [await aSession(core), await aSession(core)];
      const runId = await submitted(core, busy);
      const next = await submitted(core, busy);
      await core.claims.claimNext();
      const { sessions } = await core.sessions.list(ALICE, { limit: 10 });
      expect(sessions).toMatchObject([
        { id: busy, status: 'running', activeRunId: runId, lastRunId: next },
        { id: idle, status: 'idle', activeRunId: null, lastRunId: null },
      ]);
    });
  });

  it('loses no change of state that comes at the same time as another', async () => {
    const sessions = [await aSession(core), await aSession(core), await aSession(core)];
    const writes = sessions.flatMap((sessionId, s) =>
      Array.from({ length: 5 }, (_unused, n) => {
        const key = `${s}-${n}`;
        const stateDelta: JsonObject = { [key]: 1, [`app:${key}`]: 1, [`user:${key}`]: 1 };
        return core.runs.submit(ALICE, aMessage(sessionId, { stateDelta }));
      }),
    );
    await Promise.all(writes);
    for (const [s, sessionId] of sessions.entries()) {
      const state = Object.keys((await core.sessions.get(ALICE, sessionId)).mergedState!);
      expect(state.filter((key) => key.startsWith('app:'))).toHaveLength(15);
      expect(state.filter((key) => key.startsWith('user:'))).toHaveLength(15);
      expect(state.filter((key) => !key.includes(':')).toSorted()).toEqual([0, 1, 2, 3, 4].map((n) => `${s}-${n}`));
    }
  });
}
