import { AdkClient, strictFrames, textsOf } from '../../support/adk-client.js';
import { effectsOf } from '../../support/effects.js';
import {
  answerReply,
  callReply,
  calls,
  DESTROY,
  DONE,
  FakeLlm,
  finish,
  text,
  usage,
  type Reply,
} from '../../support/fake-llm.js';
import { propertyRuns } from '../../support/property-runs.js';
import { startServer, type TestServer } from '../../support/server.js';
import { V1Client } from '../../support/v1-client.js';

const MAX_TURNS = 4;
const LONG_MS = 120_000;
/** A text that makes the test tool `counter` available to any model. */
const COUNT = 'tool:counter:0';

const call = (id: string, name: string, args: string, index = 0): object => ({
  index,
  id,
  type: 'function',
  function: { name, arguments: args },
});

/** Two deltas of text, a call, and the usage. */
const talkAndCall: Reply = {
  steps: [
    text('He'),
    text('llo'),
    calls(call('call_1', 'counter', '{"ms":0}')),
    finish('tool_calls'),
    usage(9, 5),
    DONE,
  ],
};

describe('field cases of the ADK wire', () => {
  let llm: FakeLlm;
  let server: TestServer;
  let adk: AdkClient;
  let v1: V1Client;

  beforeAll(async () => {
    llm = await FakeLlm.start({ strict: true });
    server = await startServer({
      env: { ...llm.env, BRIDLE_EVENTS_COALESCE: 'false', BRIDLE_LIMITS_MAX_TURNS: String(MAX_TURNS) },
    });
    adk = new AdkClient(Number(new URL(server.http).port));
    v1 = new V1Client(server);
  });

  beforeEach(() => {
    llm.reset();
  });

  afterAll(async () => {
    await server.dispose();
    await llm.close();
  });

  const framesOf = async (response: Promise<Response>) => strictFrames(await (await response).text());

  /** The run that was started last, as `/v1` shows it. */
  async function newestRun(): Promise<{ run_id: string; status: string; code: string }> {
    const { body } = await v1.call('GET', '/v1/sessions?limit=1');
    const { runs } = await v1.snapshot(body.sessions[0].id as string);
    return runs.at(-1);
  }

  describe('C01 a failure is told from a success', () => {
    it('by an event with errorCode and an unnamed error frame, which is the last', async () => {
      llm.script({ steps: [text('He'), text('llo'), DESTROY] });
      const session = await adk.session();
      const frames = await framesOf(adk.say(session, 'hi', { streaming: true }));
      const [failure, end] = frames.slice(-2);
      expect(frames.slice(0, -2).map((frame) => [frame['partial'], textsOf(frame)[0]])).toEqual([
        [true, 'He'],
        [true, 'llo'],
      ]);
      expect(failure).toMatchObject({ errorCode: 'PROVIDER_ERROR', errorMessage: "the model's answer was cut off" });
      expect(failure).not.toHaveProperty('content');
      expect(end).toEqual({ error: "the model's answer was cut off" });
      expect(await newestRun()).toMatchObject({ status: 'failed', code: 'PROVIDER_ERROR' });

      const [question, ...stored] = await adk.events(session);
      expect(textsOf(question)).toEqual(['hi']);
      expect(stored).toEqual([failure]);
    });

    it('by 404 before any byte of a stream when the session is not there', async () => {
      const response = await adk.say('never-made', 'hi', { streaming: true });
      expect(response.status).toBe(404);
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(await response.json()).toEqual({ detail: 'Session not found' });
    });

    it('by 422 that names the key when the body is invalid', async () => {
      const response = await adk.run(await adk.session(), 'no list');
      expect(response.status).toBe(422);
      const { detail } = (await response.json()) as { detail: { loc: unknown }[] };
      expect(detail[0]?.loc).toEqual(['body', 'newMessage', 'parts']);
    });

    it('and a message that is absent runs on the history, never into an empty stream', async () => {
      const session = await adk.session();
      llm.script(answerReply('one'), answerReply('two'));
      await framesOf(adk.say(session, 'hi'));
      const body = { appName: 'harness_agent', userId: 'u1', sessionId: session };
      const frames = await framesOf(adk.request('POST', '/run_sse', body));
      expect(frames.map(textsOf)).toEqual([['two']]);
      expect(llm.requests.at(-1)?.body.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant']);
    });
  });

  describe('C05 each text is told once', () => {
    const turns = [talkAndCall, answerReply('Do', 'ne')];

    it('as deltas and one aggregate a turn, in the session and in the next prompt', async () => {
      llm.script(...turns, answerReply('ok'));
      const session = await adk.session();
      const frames = await framesOf(adk.say(session, COUNT, { streaming: true }));
      const partials = frames.filter((frame) => frame['partial'] === true);
      expect(partials.flatMap(textsOf)).toEqual(['He', 'llo', 'Do', 'ne']);
      const whole = frames.filter((frame) => frame['partial'] !== true);
      expect(
        whole.map((frame) => (frame['content'] as { parts: object[] }).parts.map((part) => Object.keys(part)[0])),
      ).toEqual([['text', 'functionCall'], ['functionResponse'], ['text']]);
      expect(whole.flatMap(textsOf).filter(Boolean)).toEqual(['Hello', 'Done']);
      expect((await adk.events(session)).slice(1)).toEqual(whole);

      await framesOf(adk.say(session, 'and then?'));
      const said = llm.requests.at(-1)!.body.messages.filter(({ role }) => role === 'assistant');
      expect(said.map(({ content }) => content)).toEqual(['Hello', 'Done']);
    });

    it('without streaming as aggregates alone', async () => {
      llm.script(...turns);
      const frames = await framesOf(adk.say(await adk.session(), COUNT));
      expect(frames.some((frame) => frame['partial'] === true)).toBe(false);
      expect(frames.flatMap(textsOf).filter(Boolean)).toEqual(['Hello', 'Done']);
    });
  });

  describe('C06 one call is one call', () => {
    it('when it comes in pieces and then once more as a whole', async () => {
      const whole = call('call_1', 'counter', '{"ms":0}');
      llm.script(
        {
          steps: [
            calls(call('call_1', 'counter', '')),
            calls({ index: 0, function: { arguments: '{"ms"' } }),
            calls({ index: 0, function: { arguments: ':0}' } }),
            calls(whole),
            finish('tool_calls'),
            DONE,
          ],
        },
        answerReply('counted'),
      );
      const frames = await framesOf(adk.say(await adk.session(), COUNT, { streaming: true }));
      const asked = frames
        .flatMap((frame) => (frame['content'] as { parts: object[] }).parts)
        .filter((part) => 'functionCall' in part);
      expect(asked).toEqual([{ functionCall: { id: 'call_1', args: { ms: 0 }, name: 'counter' } }]);
      expect(effectsOf(server, (await newestRun()).run_id)).toHaveLength(1);
      expect(llm.requests).toHaveLength(2);
    });

    it('and a loop of calls ends at the limit, which the error names', async () => {
      llm.script(...Array.from({ length: MAX_TURNS }, (_, turn) => callReply('counter', { ms: 0 }, `call_${turn}`)));
      const frames = await framesOf(adk.say(await adk.session(), COUNT));
      expect(llm.requests).toHaveLength(MAX_TURNS);
      const message = `Max number of llm calls limit of \`${MAX_TURNS}\` exceeded`;
      expect(frames.at(-2)).toMatchObject({ errorCode: 'TURN_LIMIT', errorMessage: message });
      expect(frames.at(-1)).toEqual({ error: message });
    });
  });

  it(
    'C08 the stream always ends, right after its last event',
    async () => {
      const session = await adk.session();
      for (let round = 0; round < propertyRuns(200); round += 1) {
        const withCall = round % 2 === 1;
        llm.script(...(withCall ? [callReply('counter', { ms: 0 }, `call_${round}`)] : []), answerReply('done'));
        const response = await adk.say(session, COUNT, { streaming: round % 3 === 0 });
        let body = '';
        let lastMs = 0;
        for await (const bytes of response.body!) {
          body += Buffer.from(bytes as Uint8Array).toString();
          lastMs = performance.now();
        }
        expect(performance.now() - lastMs).toBeLessThan(1000);
        expect(textsOf(strictFrames(body).at(-1))).toEqual(['done']);
      }
    },
    LONG_MS,
  );
});
