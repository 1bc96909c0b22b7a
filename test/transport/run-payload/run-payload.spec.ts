import { readFileSync } from 'node:fs';
import type { EventOf, EventType, HarnessEvent } from '../../../src/events/harness-event.js';
import type { LoggedEvent, RunFacts } from '../../../src/events/projection.js';
import { NO_USAGE } from '../../../src/events/values.js';
import { toRunPayload } from '../../../src/transport/run-payload/run-payload.js';
import { EXAMPLE_EVENTS, EXAMPLE_RUN } from '../../support/example-run.js';

/** Frames of the contract's own example. */
const FRAMES = JSON.parse(readFileSync(new URL('./golden/contract-frames.json', import.meta.url), 'utf8')) as readonly {
  readonly id: number;
}[];

const COMMON = {
  runId: 'R1',
  at: Date.UTC(2026, 7, 17),
  agentName: 'vision_agent',
  sessionId: 'S1',
  streamId: 'st1',
};
const RUNNING = { seq: 7, status: 'running', code: 'CALLING_MODEL', stage: 'reasoning' } as const;
const ARTIFACT = {
  artifactId: 'a1',
  kind: 'image',
  mimeType: 'image/png',
  width: 2,
  height: 3,
  bytes: 4,
  sha256: 'ff',
} as const;
const SHOWN_ARTIFACT = {
  artifact_id: 'a1',
  kind: 'image',
  mime_type: 'image/png',
  width: 2,
  height: 3,
  bytes: 4,
  sha256: 'ff',
  run_id: 'R1',
};
const SHOWN_NO_USAGE = { input_tokens: 0, output_tokens: 0, total_tokens: 0, cached_tokens: 0, estimated: false };

function anEvent<T extends EventType>(
  type: T,
  own: Omit<EventOf<T>, keyof typeof COMMON | 'type'>,
  stamp: Partial<Pick<LoggedEvent, 'code' | 'stage' | 'status'>> = {},
): LoggedEvent {
  return { ...RUNNING, ...stamp, type, ...COMMON, ...own } as unknown as LoggedEvent;
}

/** State and own fields of an event. */
function told(event: LoggedEvent, run: RunFacts = EXAMPLE_RUN): { type: string; state: unknown; own: object } {
  const { type, data } = toRunPayload(run, event);
  const { session_id, run_id, capabilities, status, code, stage, state, time, message, ...own } = data;
  expect({ session_id, run_id, capabilities, status, code, stage, time }).toEqual({
    session_id: run.sessionId,
    run_id: run.runId,
    capabilities: run.capabilities,
    status: event.status,
    code: event.code,
    stage: event.stage,
    time: '2026-08-17T00:00:00.000Z',
  });
  expect(typeof message === 'string' && message !== '').toBe(true);
  return { type, state, own };
}

describe('the public form of an event', () => {
  it.each(FRAMES.map((frame) => [frame.id, frame] as const))('equals frame %i of the contract', (id, frame) => {
    expect(toRunPayload(EXAMPLE_RUN, EXAMPLE_EVENTS[id - 1] as LoggedEvent)).toEqual(frame);
  });

  it('keeps every id of a run', () => {
    expect(EXAMPLE_EVENTS.map((event) => toRunPayload(EXAMPLE_RUN, event).id)).toEqual(
      Array.from({ length: EXAMPLE_EVENTS.length }, (_, index) => index + 1),
    );
  });

  const error = { code: 'AGENT_ERROR', message: 'agent error', retryable: false, stage: 'reasoning' } as const;
  const end = { artifacts: [ARTIFACT], usage: NO_USAGE };
  const shownEnd = { artifacts: [SHOWN_ARTIFACT], usage: SHOWN_NO_USAGE };
  const call = { callId: 'c1', toolName: 'clock', reasonId: 'x1' };
  const shownCall = { call_id: 'c1', tool_name: 'clock', reason_id: 'x1' };

  const ROWS: readonly (readonly [LoggedEvent, type: string, state: string, own: object])[] = [
    [
      anEvent('recovered', { attempt: 2, discardAfter: 5 }),
      'run.recovered',
      'pending',
      { attempt: 2, discard_after: 5 },
    ],
    [anEvent('cancelling', { reason: null }), 'run.cancelling', 'active', { reason: null }],
    [anEvent('run_failed', { error, ...end }), 'run.failed', 'failed', { error, ...shownEnd }],
    [
      anEvent('run_failed', { error: { ...error, details: { text: 'so far' } }, ...end }),
      'run.failed',
      'failed',
      { error: { ...error, details: { text: 'so far' } }, ...shownEnd },
    ],
    [anEvent('run_expired', { error, ...end }), 'run.expired', 'failed', { error, ...shownEnd }],
    [
      anEvent('run_cancelled', { reason: 'enough', ...end }),
      'run.cancelled',
      'skipped',
      { reason: 'enough', ...shownEnd },
    ],
    [
      anEvent('steer_accepted', { requestId: 'r2', text: 'more', disposition: 'deferred' }),
      'run.steer_accepted',
      'active',
      { request_id: 'r2', text: 'more', disposition: 'deferred' },
    ],
    [
      anEvent('steer_applied', { requestId: 'r2', input: { parts: [{ kind: 'text', text: 'more' }] } }),
      'run.steer_applied',
      'active',
      { request_id: 'r2', text: 'more' },
    ],
    [anEvent('usage', { usage: NO_USAGE }), 'run.usage', 'active', { usage: SHOWN_NO_USAGE }],
    [
      anEvent('artifact', { artifact: ARTIFACT, filename: 'a.png', version: 0 }),
      'run.artifact',
      'done',
      { artifact: SHOWN_ARTIFACT },
    ],
    [anEvent('progress', { code: 'FETCHING_RESOURCES', state: 'skipped' }), 'run.progress', 'skipped', {}],
    [
      anEvent('progress', { code: 'MODEL_RETRY', state: 'active', detail: { tries: 2 } }),
      'run.progress',
      'active',
      { detail: { tries: 2 } },
    ],
    [
      anEvent('imported', { event: { author: 'user' } }),
      'run.progress',
      'active',
      { detail: { type: 'imported', event: { author: 'user' } } },
    ],
    [
      anEvent('state_delta', { delta: { n: null } }),
      'run.progress',
      'active',
      { detail: { type: 'state_delta', delta: { n: null } } },
    ],
    [anEvent('action_end', {}), 'run.progress', 'done', { detail: { type: 'action_end' } }],
    [
      anEvent('reason_delta', { reasonId: 'x1', kind: 'media', media: { mimeType: 'image/png' } }),
      'run.message_delta',
      'active',
      { reason_id: 'x1', channel: 'media', text: '', media: { mimeType: 'image/png' } },
    ],
    [
      anEvent('tool_call_start', { ...call, args: { zone: 'UTC' }, resumed: true }),
      'run.tool_started',
      'active',
      { ...shownCall, args: { zone: 'UTC' }, resumed: true },
    ],
    [
      anEvent('tool_call_end', { ...call, outcome: 'ok', text: 'noon', error: null, durationMs: 3 }),
      'run.tool_finished',
      'done',
      { ...shownCall, outcome: 'ok', text: 'noon', error: null, duration_ms: 3 },
    ],
    [
      anEvent('tool_call_end', {
        ...call,
        outcome: 'timeout',
        text: '',
        error: { code: 'TIMEOUT', message: 'too slow' },
        durationMs: 3,
      }),
      'run.tool_finished',
      'failed',
      { ...shownCall, outcome: 'timeout', text: '', error: { code: 'TIMEOUT', message: 'too slow' }, duration_ms: 3 },
    ],
  ];

  it.each(ROWS.map(([event, type, state, own]) => [type, state, event, own] as const))(
    '%s, %s',
    (type, state, event, own) => {
      expect(told(event)).toEqual({ type, state, own });
    },
  );

  it('of a sub-agent names the public run and the task', () => {
    const parent = { runId: 'R1', taskId: 't1', taskIndex: 2, agentName: 'vision_agent', description: 'look' };
    const event = anEvent('action_end', {});
    const child = { ...event, runId: 'R1-child', agentName: 'helper', parent } as LoggedEvent;
    expect(told(child).own).toEqual({
      detail: { type: 'action_end' },
      task: { task_id: 't1', task_index: 2, run_id: 'R1-child', agent_name: 'helper' },
    });
  });

  it('leaves tasks out when nothing waits for approval, and says when a question ends', () => {
    const inputRequired = {
      questionId: 'Q1',
      mode: 'text',
      questions: [{ id: 'q', question: 'Why?', inputType: 'text', options: [], multiSelect: false }],
      tasks: [],
      expiresAt: Date.UTC(2026, 7, 18),
    } as const;
    expect(told(anEvent('input_required', { inputRequired })).own).toEqual({
      input_required: {
        question_id: 'Q1',
        mode: 'text',
        questions: inputRequired.questions,
        expires_at: '2026-08-18T00:00:00.000Z',
      },
    });
  });

  it('never shows a side fact or the inside of the log', () => {
    const event = { ...anEvent('run_start', {}), meta: { modelVersion: 'm1' } } as LoggedEvent & HarnessEvent;
    expect(told(event).own).toEqual({ detail: { type: 'run_start' } });
  });
});

describe('the human text', () => {
  const textOf = (code: string, language: 'zh' | 'en', state: 'active' | 'done' = 'active'): unknown =>
    toRunPayload({ ...EXAMPLE_RUN, language }, anEvent('progress', { code: code as never, state }, { code })).data[
      'message'
    ];

  it('follows the language of the run', () => {
    expect([textOf('ANALYZING_IMAGE', 'zh'), textOf('ANALYZING_IMAGE', 'en')]).toEqual([
      '正在分析图片内容',
      'Looking at the pictures',
    ]);
  });

  it('is there for a code that nobody has heard of', () => {
    expect([textOf('FLYING', 'zh'), textOf('FLYING', 'en', 'done')]).toEqual(['正在处理', 'Step finished']);
  });
});
