import type { EventFields, EventType, HarnessEvent } from '../../../src/events/harness-event.js';
import { projectAll, type RunFacts } from '../../../src/events/projection.js';
import { NO_USAGE } from '../../../src/events/values.js';
import { AdkProjection, type AdkView, type AdkWire } from '../../../src/transport/adk/adk.projection.js';
import { EXAMPLE_RUN, stampAll } from '../../support/example-run.js';

const STREAM: AdkView = { view: 'stream', streaming: false };
const PARTIALS: AdkView = { view: 'stream', streaming: true };
const SESSION: AdkView = { view: 'session', streaming: false };

const RUN: RunFacts = { ...EXAMPLE_RUN, runId: '0190a1b2-0000-7000-8000-000000000001', agentName: 'a1' };
const CALL = { callId: 'c1', providerCallId: 'call_1', toolName: 'add', args: { a: 1 } };
const SECOND = { ...CALL, callId: 'c2', providerCallId: '', args: '' };

let clock = 0;
const event = <T extends EventType>(type: T, fields: EventFields[T], more: object = {}): HarnessEvent =>
  ({
    type,
    runId: RUN.runId,
    at: 1_800_000_000_000 + (clock += 250),
    agentName: 'a1',
    sessionId: RUN.sessionId,
    streamId: 'e1',
    ...more,
    ...fields,
  }) as unknown as HarnessEvent;

const queued = event('run_queued', { input: { parts: [{ kind: 'text', text: 'hi' }] }, queuePosition: 0 });
const said = (fields: Partial<EventFields['reason_end']>, meta: object = { modelVersion: 'm2' }): HarnessEvent =>
  event(
    'reason_end',
    { reasonId: 'x', text: '', toolCalls: [], finishReason: 'stop', durationMs: 1, ...fields },
    { meta },
  );
const delta = (text: string, kind: 'text' | 'thinking' = 'text') =>
  event('reason_delta', { reasonId: 'x', kind, text });
const ended = (call: typeof CALL | typeof SECOND, fields: Partial<EventFields['tool_call_end']>, meta?: object) => {
  const { callId, toolName } = call;
  const common = { callId, toolName, reasonId: 'x', outcome: 'ok' as const, text: '', error: null, durationMs: 1 };
  return event('tool_call_end', { ...common, ...fields }, meta && { meta });
};
const failed = event('run_failed', {
  error: { code: 'PROVIDER_ERROR', message: 'the model answered 500', retryable: true, stage: 'reasoning' },
  artifacts: [],
  usage: NO_USAGE,
});
const cancelled = event('run_cancelled', { reason: null, artifacts: [], usage: NO_USAGE });
const acting = (...events: HarnessEvent[]): HarnessEvent[] => [event('action_start', { calls: [] }), ...events];

function wiresOf(view: AdkView, events: readonly HarnessEvent[]): AdkWire[] {
  return projectAll(new AdkProjection(view), RUN, stampAll(events));
}

/** The parts of the frames that the test is about, without ids and times. */
function shown(view: AdkView, events: readonly HarnessEvent[]): unknown[] {
  return wiresOf(view, events).map((wire) => {
    if (wire.kind === 'error') return { error: wire.message };
    const { id: _id, timestamp: _time, invocationId: _invocation, nodeInfo: _node, actions, ...rest } = wire.event;
    const {
      requestedAuthConfigs: _auth,
      requestedToolConfirmations: _tools,
      ...effects
    } = actions as object as {
      requestedAuthConfigs: object;
      requestedToolConfirmations: object;
    };
    const changed = Object.fromEntries(
      Object.entries(effects).filter(([, map]) => Object.keys(map as object).length > 0),
    );
    return { ...rest, ...(Object.keys(changed).length > 0 && { actions: changed }) };
  });
}

const answer = (text: string, more: object = {}) => ({
  modelVersion: 'm2',
  content: { parts: [{ text }], role: 'model' },
  partial: false,
  finishReason: 'STOP',
  author: 'a1',
  ...more,
});
const responses = (...parts: object[]) => ({ content: { parts, role: 'user' }, author: 'a1' });
const response = (id: string, value: object) => ({ functionResponse: { id, name: 'add', response: value } });

describe('AdkProjection', () => {
  it('sends deltas only to a streaming client, with the model named at the start', () => {
    const start = event('reason_start', { reasonId: 'x' }, { meta: { modelVersion: 'm1' } });
    const events = [
      queued,
      start,
      delta('thinking', 'thinking'),
      delta('Hi'),
      said({ text: 'Hi', thinking: 'thinking' }),
    ];
    const whole = answer('Hi', {
      content: { parts: [{ text: 'thinking', thought: true }, { text: 'Hi' }], role: 'model' },
    });
    const partial = (part: object) => ({
      modelVersion: 'm1',
      content: { parts: [part], role: 'model' },
      partial: true,
      author: 'a1',
    });
    expect(shown(PARTIALS, events)).toEqual([
      partial({ text: 'thinking', thought: true }),
      partial({ text: 'Hi' }),
      whole,
    ]);
    expect(shown(STREAM, events)).toEqual([whole]);
    expect(shown(SESSION, events)).toEqual([
      { content: { parts: [{ text: 'hi' }], role: 'user' }, author: 'user' },
      whole,
    ]);
  });

  it('joins the results of a batch in the order of its calls', () => {
    const events = [
      said({ toolCalls: [CALL, SECOND], finishReason: 'tool_calls' }),
      ...acting(
        ended(SECOND, { outcome: 'timeout', text: 'too late' }),
        ended(CALL, { text: '{"b":null}' }, { json: true }),
      ),
      event('action_end', {}),
    ];
    expect(shown(STREAM, events)).toEqual([
      answer('', {
        content: {
          parts: [
            { functionCall: { id: 'call_1', args: { a: 1 }, name: 'add' } },
            { functionCall: { id: 'adk-c2', name: 'add' } },
          ],
          role: 'model',
        },
        longRunningToolIds: [],
      }),
      responses(response('call_1', { b: null }), response('adk-c2', { error: 'too late' })),
    ]);
  });

  it.each([
    ['a text', 'ok', 'done', undefined, { result: 'done' }],
    ['a text that looks like JSON', 'ok', '{"a":1}', undefined, { result: '{"a":1}' }],
    ['a list', 'ok', '[1,null]', { json: true }, { result: [1, null] }],
    ['null', 'ok', 'null', { json: true }, { result: null }],
    ['a failure', 'error', 'no', undefined, { error: 'no' }],
    ['a cancelled call', 'cancelled', 'whatever the log says', undefined, { error: 'cancelled' }],
  ] as const)('shows %s as an object', (_, outcome, text, meta, expected) => {
    const events = [
      said({ toolCalls: [CALL] }),
      ...acting(ended(CALL, { outcome, text }, meta)),
      event('action_end', {}),
    ];
    expect(shown(STREAM, events).at(-1)).toEqual(responses(response('call_1', expected)));
  });

  it('sends artifacts in a second frame and keeps one event', () => {
    const artifact = {
      artifactId: 'f',
      kind: 'image',
      mimeType: 'image/png',
      width: 1,
      height: 1,
      bytes: 1,
      sha256: '0',
    } as const;
    const events = [
      said({ toolCalls: [CALL] }),
      ...acting(
        ended(CALL, { text: 'saved' }),
        event('state_delta', { delta: { k: 1, 'temp:t': 2 } }),
        event('artifact', { artifact, filename: 'a.png', version: 0 }),
      ),
      event('action_end', {}),
    ];
    const content = responses(response('call_1', { result: 'saved' }));
    expect(shown(STREAM, events).slice(1)).toEqual([
      { ...content, actions: { stateDelta: { k: 1 } } },
      { author: 'a1', actions: { stateDelta: { k: 1 }, artifactDelta: { 'a.png': 0 } } },
    ]);
    expect(shown(SESSION, events).slice(1)).toEqual([
      { ...content, actions: { stateDelta: { k: 1 }, artifactDelta: { 'a.png': 0 } } },
    ]);
    const [, first, second] = wiresOf(STREAM, events).map((wire) => (wire.kind === 'event' ? wire.event : {}));
    expect([second?.['id'], second?.['timestamp']]).toEqual([first?.['id'], first?.['timestamp']]);
  });

  it('ends a failed run with an event and the error frame, in place of half an answer', () => {
    const events = [queued, delta('ha'), said({ text: 'ha', finishReason: 'other', interrupted: 'cancelled' }), failed];
    const failure = { errorCode: 'PROVIDER_ERROR', errorMessage: 'the model answered 500', author: 'a1' };
    expect(shown(STREAM, events)).toEqual([failure, { error: 'the model answered 500' }]);
    expect(shown(SESSION, events).slice(1)).toEqual([failure]);
  });

  it('shows half an answer of a cancelled run, and closes its open calls', () => {
    const half = said({ text: 'ha', finishReason: 'other', interrupted: 'cancelled' }, {});
    expect(shown(STREAM, [half, cancelled])).toEqual([
      { content: { parts: [{ text: 'ha' }], role: 'model' }, partial: false, interrupted: true, author: 'a1' },
      { error: 'The run was cancelled.' },
    ]);
    const inTool = [said({ toolCalls: [CALL] }), ...acting(ended(CALL, { outcome: 'cancelled' })), cancelled];
    expect(shown(SESSION, inTool).at(-1)).toEqual(responses(response('call_1', { error: 'cancelled' })));
  });

  it('skips an attempt that was taken over, and goes on with its batch', () => {
    const events = [
      said({ toolCalls: [CALL, SECOND] }),
      ...acting(ended(CALL, { text: 'one' })),
      event('recovered', { attempt: 2, discardAfter: 3 }),
      ...acting(ended(SECOND, { text: 'two' })),
      event('action_end', {}),
      said({ text: 'lost', interrupted: 'recovered' }),
      said({ text: 'kept' }),
    ];
    expect(shown(STREAM, events).slice(1)).toEqual([
      responses(response('call_1', { result: 'one' }), response('adk-c2', { result: 'two' })),
      answer('kept'),
    ]);
  });

  it('tells a refusal and a cut from a failure', () => {
    expect(shown(STREAM, [said({ finishReason: 'content_filter' }, { note: 'blocked' })])).toEqual([
      { errorCode: 'SAFETY', errorMessage: 'blocked', author: 'a1' },
    ]);
    expect(shown(STREAM, [said({ text: 'cut of', finishReason: 'length' })])).toEqual([
      answer('cut of', { finishReason: 'MAX_TOKENS', errorCode: 'MAX_TOKENS', errorMessage: 'Maximum tokens reached' }),
    ]);
  });

  it('counts tokens as ADK does, cached ones only when there are some', () => {
    const usage = {
      promptTokens: 12,
      completionTokens: 3,
      totalTokens: 15,
      cacheCreationInputTokens: 0,
      cacheReadInputTokens: 0,
    };
    const metadataOf = (cached: number) =>
      (
        shown(STREAM, [said({ text: 'x', usage: { ...usage, cacheReadInputTokens: cached } })])[0] as {
          usageMetadata: object;
        }
      ).usageMetadata;
    expect(JSON.stringify(metadataOf(0))).toBe('{"candidatesTokenCount":3,"promptTokenCount":12,"totalTokenCount":15}');
    expect(JSON.stringify(metadataOf(4))).toBe(
      '{"cachedContentTokenCount":4,"candidatesTokenCount":3,"promptTokenCount":12,"totalTokenCount":15}',
    );
  });

  it('lists what was written without a run: imported events as given, state changes as the user', () => {
    const given = { id: 'ev', author: 'x', content: { parts: [] } };
    const events = [
      event('imported', { event: given }, { streamId: '' }),
      event('state_delta', { delta: { a: 1, 'temp:b': 2 } }, { streamId: '' }),
    ];
    expect(wiresOf(SESSION, events)[0]).toEqual({ kind: 'event', event: given });
    expect(shown(SESSION, events.slice(1))).toEqual([{ author: 'user', actions: { stateDelta: { a: 1 } } }]);
    expect(wiresOf(STREAM, events)).toEqual([]);
  });

  it('keeps a place for the bytes of a picture', () => {
    const image = {
      index: 0,
      resourceId: 'r',
      sha256: 'ab',
      mimeType: 'image/png',
      width: 2,
      height: 1,
      bytes: 9,
    } as const;
    const input = {
      role: 'model',
      parts: [
        { kind: 'image', ...image, displayName: 'a.png' },
        { kind: 'wire', dialect: 'adk', value: {} },
      ],
    } as const;
    const { index: _index, ...picture } = image;
    expect(shown(SESSION, [event('run_queued', { input, queuePosition: 0 })])).toEqual([
      { content: { parts: [{ picture: { ...picture, displayName: 'a.png' } }, {}], role: 'model' }, author: 'user' },
    ]);
  });

  it('leaves out what sub-agents do', () => {
    const parent = { runId: RUN.runId, taskId: 't', taskIndex: 0, agentName: 'a1', description: 'd' };
    const child = { ...said({ text: 'child' }), parent };
    expect(wiresOf(STREAM, [child])).toEqual([]);
  });
});
