import { setTimeout as sleep } from 'node:timers/promises';
import { strictFrames, textsOf } from '../../support/adk-client.js';
import {
  answerReply,
  callReply,
  choice,
  DONE,
  FakeLlm,
  finish,
  text,
  usage,
  type Reply,
} from '../../support/fake-llm.js';
import { isFullRun } from '../../support/property-runs.js';
import type { Replicas } from '../../support/replicas.js';
import { expectOneEnd } from '../../support/run-end.js';
import { upTo } from '../../support/v1-client.js';

const LONG_MS = 120_000;
const sessionsOf = (user: string): string => `/apps/harness_agent/users/${encodeURIComponent(user)}/sessions`;

/** An answer in two pieces, with a pause between them. */
const slowReply = (ms: number, first: string, second: string): Reply => ({
  steps: [text(first), { delayMs: ms }, text(second), finish('stop'), usage(10, 5), DONE],
});

/** Field cases of sessions and their rows. Each case begins at one replica and goes on at another one. */
export function sessionCases(open: (env: Readonly<Record<string, string>>) => Promise<Replicas>): void {
  let llm: FakeLlm;
  let replicas: Replicas;

  beforeAll(async () => {
    llm = await FakeLlm.start({ strict: true });
    replicas = await open(llm.env);
  }, LONG_MS);

  beforeEach(() => llm.reset());

  afterAll(async () => {
    await replicas.dispose();
    await llm.close();
  });

  const framesOf = async (response: Promise<Response>) => strictFrames(await (await response).text());

  describe('C13 a session that exists is found, and no other', () => {
    const create = async (index: number, sessionId: string, user = 'u1'): Promise<[number, unknown]> => {
      const response = await replicas.adk(index).request('POST', sessionsOf(user), { sessionId });
      return [response.status, await response.json()];
    };
    const refused = [409, { detail: 'Session already exists: s-42' }];

    it('is made once; a run in it works at every process, one in another is 404', async () => {
      expect((await create(0, 's-42'))[0]).toBe(200);
      expect(await create(1, 's-42')).toEqual(refused);
      expect(await create(0, 's-42 ')).toEqual(refused);
      for (const index of upTo(replicas.size)) {
        llm.script(answerReply(`here ${index}`));
        expect((await framesOf(replicas.adk(index).say('s-42', 'hi'))).map(textsOf)).toEqual([[`here ${index}`]]);
        const unknown = await replicas.adk(index).say('s-43', 'hi');
        expect([unknown.status, await unknown.json()]).toEqual([404, { detail: 'Session not found' }]);
      }
    });

    it('compares ids byte by byte, for each user', async () => {
      expect(await create(1, 'S-42')).toEqual([200, expect.objectContaining({ id: 'S-42' })]);
      expect(await create(1, 's-42', 'u2')).toEqual([
        200,
        expect.objectContaining({ id: 's-42', userId: 'u2', events: [] }),
      ]);
      expect(await replicas.adk(0).events('S-42')).toHaveLength(0);
      expect(await replicas.adk(1).events('s-42')).toHaveLength(2 * replicas.size);
    });

    it.each([
      [255, 200],
      [256, 200],
      [257, 422],
    ])('takes or refuses an id of %d characters whole: %d', async (length, status) => {
      const id = 'x'.repeat(length);
      expect((await create(0, id))[0]).toBe(status);
      const found = await replicas.adk(1).request('GET', `${sessionsOf('u1')}/${id}`);
      expect(found.status).toBe(status === 200 ? 200 : 404);
    });

    it('outlives the process', async () => {
      await replicas.server(0).kill9();
      await replicas.server(0).restart();
      expect(await create(0, 's-42')).toEqual(refused);
      llm.script(answerReply('still here'));
      expect((await framesOf(replicas.adk(0).say('s-42', 'hi'))).map(textsOf)).toEqual([['still here']]);
    });
  });

  describe('C14 two requests on one session', () => {
    const delayMs = isFullRun() ? 2000 : 300;

    it(
      'run one after the other, whoever is asked, and each stream is whole',
      async () => {
        for (const round of upTo(isFullRun() ? 10 : 3)) {
          const session = await replicas.adk(round).session(`overlap-${round}`);
          llm.reset();
          llm.script(slowReply(delayMs, 'one ', 'first'), slowReply(delayMs, 'two ', 'second'));
          const say = async (index: number, words: string) =>
            framesOf(replicas.adk(index).say(session, words, { streaming: true }));
          const streams = await Promise.all([
            say(round, 'question a'),
            sleep(5).then(() => say(round + 1, 'question b')),
          ]);

          const [first, second] = llm.requests.map(({ body }) => body.messages.slice(1));
          const asked = second!.at(-1)!.content;
          expect(second).toEqual([...first!, { role: 'assistant', content: 'one first' }, expect.anything()]);
          const [begun, followed] = asked === 'question b' ? streams : streams.toReversed();
          expect(begun!.map(textsOf)).toEqual([['one '], ['first'], ['one first']]);
          expect(followed!.map(textsOf)).toEqual([['two '], ['second'], ['two second']]);
          const events = await replicas.adk(round + 1).events(session);
          expect(events.map(textsOf)).toEqual([[first![0]!.content], ['one first'], [asked], ['two second']]);
        }
      },
      LONG_MS,
    );

    it('are refused before the stream when the second one says so, and the first completes', async () => {
      const [v1, other] = [replicas.v1(0), replicas.v1(1)];
      llm.script(slowReply(1000, 'a', 'b'));
      const sessionId = await v1.session();
      const run = await v1.send(sessionId, 'hi');
      await v1.until(run, (state) => state.status === 'running');
      const body = other.message(sessionId, 'me too', { mode: 'reject' });
      const answer = await other.call('POST', '/v1/actions', body, { accept: 'text/event-stream' });
      expect(answer).toMatchObject({
        status: 409,
        body: { error: { code: 'SESSION_BUSY', details: { active_run_id: run.runId } } },
      });
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
      expect(await expectOneEnd(other, run)).toMatchObject({ type: 'run.completed', result: { data: { text: 'ab' } } });
      expect(llm.requests).toHaveLength(1);
    });
  });

  describe('C22 every character round-trips', () => {
    const words = '😀👨‍👩‍👧 𠮷 \u0000 ü';
    const user = 'ü😀';

    it('in messages, ids, arguments and prompts', async () => {
      const args = { note: 'a\u0000b😀𠮷' };
      llm.script(callReply('now', args), answerReply(words), answerReply('ok'));
      const [adk, other] = [replicas.adk(0), replicas.adk(1)];
      expect((await adk.request('POST', sessionsOf(user), { sessionId: 'fixed' })).status).toBe(200);
      const more = { userId: user };
      const frames = await framesOf(other.run('fixed', [{ text: words }], more));
      const session = (await (await adk.request('GET', `${sessionsOf(user)}/fixed`)).json()) as {
        userId: string;
        events: { content: { parts: Record<string, unknown>[] } }[];
      };
      const parts = session.events.flatMap((event) => event.content.parts);
      expect(session.userId).toBe(user);
      expect(parts[0]).toEqual({ text: words });
      expect(parts[1]).toEqual({ functionCall: { id: 'call_1', args, name: 'now' } });
      expect(parts.at(-1)).toEqual({ text: words });
      expect(textsOf(frames.at(-1))).toEqual([words]);
      await framesOf(adk.run('fixed', [{ text: 'again' }], more));
      const prompt = llm.requests.at(-1)!.body.messages;
      expect(prompt[1]?.content).toBe(words);
      expect(JSON.parse(prompt[2]!.tool_calls![0]!.function.arguments)).toEqual(args);
      expect(prompt[4]?.content).toBe(words);
    });

    it('in references and state of /v1', async () => {
      const [v1, other] = [replicas.v1(0), replicas.v1(1)];
      const state = { '鍵 😀': ['𠮷', { 'a\u0000b': null }] };
      const sessionId = await v1.session({ client_reference: 'Bestellung 😀', state });
      expect((await other.snapshot(sessionId)).session).toMatchObject({ client_reference: 'Bestellung 😀', state });
      const { body } = await other.call('GET', `/v1/sessions?client_reference=${encodeURIComponent('Bestellung 😀')}`);
      expect(body.sessions.map((session: { id: string }) => session.id)).toEqual([sessionId]);
    });

    it('and half a character is refused with 400 at every door', async () => {
      const [v1, adk, grpc] = [replicas.v1(0), replicas.adk(1), replicas.grpc(1)];
      const half = 'x\ud83d';
      expect(await v1.call('POST', '/v1/actions', v1.message(await v1.session(), half))).toMatchObject({
        status: 400,
        body: { error: { code: 'INVALID_BODY' } },
      });
      expect((await adk.say(await adk.session('half'), half)).status).toBe(400);
      // `client_reference` with three bytes that are no UTF-8.
      const end = await grpc.sendBytes(
        '/harness.v1.AgentHarness/CreateSession',
        Buffer.from([0x22, 0x03, 0xed, 0xa0, 0xbd]),
      );
      grpc.close();
      expect(end).toMatchObject({ code: 3, bridleCode: 'INVALID_BODY' });
      expect(llm.requests).toEqual([]);
    });

    it('half a character of a model does not break its run', async () => {
      llm.script({
        steps: [
          choice({ content: 'a\ud83d' }),
          choice({ content: '\ude00b' }),
          choice({ content: '\ud83d' }),
          finish('stop'),
          DONE,
        ],
      });
      const v1 = replicas.v1(0);
      const state = await replicas.v1(1).ended(await v1.send(await v1.session(), 'hi'));
      expect(state.status).toBe('completed');
      expect(state.result?.data['text']).toBe('a😀b\ufffd');
    });
  });

  describe('C23 what a JSON column holds is read in one way', () => {
    /** As sent: `JSON.stringify` would write the first two numbers otherwise. */
    const sent = String.raw`{"n":1.0,"big":9007199254740993,"s":"{\"a\":1}","none":null,"nothing":"null","list":["[1]"]}`;
    const state = { n: 1, big: 9007199254740992, s: '{"a":1}', none: null, nothing: 'null', list: ['[1]'] };
    const json = { 'content-type': 'application/json' };

    it('as state, at every door and every process', async () => {
      const body = Buffer.from(`{"agent":"harness_agent","client_reference":"null","state":${sent}}`);
      const made = await replicas.v1(0).call('POST', '/v1/sessions', body, json);
      expect(made).toMatchObject({ status: 201, body: { client_reference: 'null', state } });
      const sessionId = made.body.id as string;
      for (const index of upTo(replicas.size)) {
        expect((await replicas.v1(index).snapshot(sessionId)).session.state).toEqual(state);
        const grpc = replicas.grpc(index);
        const { session } = await grpc.call('getSession', { session_id: sessionId });
        grpc.close();
        expect(session?.state).toEqual(state);
      }
    });

    it('as state of the ADK wire', async () => {
      const body = Buffer.from(`{"sessionId":"numbers","state":${sent}}`);
      expect((await replicas.v1(0).call('POST', sessionsOf('u1'), body, json)).body).toMatchObject({ state });
      const found = await replicas.v1(1).call('GET', `${sessionsOf('u1')}/numbers`);
      expect(found.body.state).toEqual(state);
    });

    it('as a message, an argument, an answer and a prompt', async () => {
      const args = { s: '{"a":1}', n: 1, big: 9007199254740992, nothing: 'null' };
      llm.script(callReply('now', args), answerReply('{"a":', '1}'), answerReply('null'));
      const [v1, other] = [replicas.v1(0), replicas.v1(1)];
      const sessionId = await v1.session();
      const run = await v1.send(sessionId, '[1, "2"]');
      expect((await other.ended(run)).result).toEqual({ type: 'text', data: { text: '{"a":1}' } });
      const next = await other.ended(await other.send(sessionId, 'null'));
      expect(next.result).toEqual({ type: 'text', data: { text: 'null' } });
      const [, ...prompt] = llm.requests.at(-1)!.body.messages;
      expect(prompt.map(({ content }) => content).filter((content) => content !== null && content !== '')).toEqual([
        '[1, "2"]',
        expect.any(String),
        '{"a":1}',
        'null',
      ]);
      expect(JSON.parse(prompt[1]!.tool_calls![0]!.function.arguments)).toEqual(args);
    });
  });
}
