import type { EventFields, EventType, HarnessEvent } from '../../src/events/harness-event.js';
import type { LoggedEvent, RunFacts } from '../../src/events/projection.js';
import { INITIAL_STATE, stageOf } from '../../src/events/run-state.js';
import type { Question, RunResult, ToolCallRequest, Usage } from '../../src/events/values.js';

/**
 * The example run of the `/v1` contract as 26 canonical events: a picture by URL, a question and an approval in
 * one suspended turn, both answered, the tools, a second model turn, the result. Every projection has a golden of it.
 */

const QUESTION: Question = {
  id: 'cover_style',
  header: '选择新风格',
  question: '您希望把封面换成哪种风格？',
  inputType: 'single_select',
  options: [
    { label: '高级时装 · 极简黑白 (Recommended)', description: '黑白大片感' },
    { label: '复古杂志 · 70 年代', description: '奶油色底' },
  ],
  multiSelect: false,
};

const TASK = {
  callUuid: 'c2',
  toolName: 'publish',
  args: { channel: 'shop' },
  comment: 'publishes to a shop',
  path: [],
} as const;

const CALLS: readonly ToolCallRequest[] = [
  {
    callId: 'c1',
    providerCallId: 'call_1',
    toolName: 'ask_user',
    // A question is plain JSON, but an interface has no index signature.
    args: { questions: [JSON.parse(JSON.stringify(QUESTION))] },
  },
  { callId: 'c2', providerCallId: 'call_2', toolName: 'publish', args: { channel: 'shop' } },
];

const ANSWER = { id: 'cover_style', selected: ['复古杂志 · 70 年代'], custom: '' } as const;

const RESULT = {
  type: 'json',
  data: {
    reply: '已准备好方案',
    intent: 'edit',
    suggestedTitle: '商品图编辑',
    generationItems: [{ prompt: '完整提示词', aspectRatio: '3:4', referenceImageIndexes: [0] }],
  },
} as const satisfies RunResult;

const RESULT_TEXT = JSON.stringify(RESULT.data);

const USAGE: Usage = {
  inputTokens: 2140,
  outputTokens: 96,
  totalTokens: 2236,
  cachedTokens: 0,
  estimated: false,
};

const tokens = (promptTokens: number, completionTokens: number) => ({
  promptTokens,
  completionTokens,
  totalTokens: promptTokens + completionTokens,
  cacheCreationInputTokens: 0,
  cacheReadInputTokens: 0,
});

/** Facts of the example run `R1` of session `S1`. */
export const EXAMPLE_RUN: RunFacts = {
  tenantId: 'default',
  sessionId: 'S1',
  externalSessionId: 'S1',
  appName: 'vision_agent',
  userId: 'local',
  runId: 'R1',
  agentName: 'vision_agent',
  invocationId: 'e-0af76519-16cd-43dd-8448-eb211c80319c',
  capabilities: ['vision'],
  language: 'zh',
  profile: 'native',
};

/** Clock time of 2026-08-17, the stream that made the event (`''`: the run's life cycle) and the event. */
type Row = { [T in EventType]: readonly [time: string, streamId: string, type: T, fields: EventFields[T]] }[EventType];

const ROWS: readonly Row[] = [
  [
    '10:00:00.000',
    '',
    'run_queued',
    {
      input: {
        requestId: 'req-message-1',
        parts: [
          { kind: 'text', text: '去掉条形码，换个封面风格' },
          { kind: 'image_url', index: 0, resourceId: 'cover-v1', url: 'https://cdn.example.com/cover.png' },
        ],
      },
      queuePosition: 0,
    },
  ],
  ['10:00:00.200', '', 'run_running', { attempt: 1, hasPictures: true }],
  [
    '10:00:00.400',
    '',
    'progress',
    {
      code: 'ANALYZING_IMAGE',
      state: 'active',
      attached: [
        {
          kind: 'image',
          index: 0,
          resourceId: 'cover-v1',
          sha256: '9f2c3a',
          mimeType: 'image/png',
          width: 1536,
          height: 2048,
          bytes: 482113,
        },
      ],
    },
  ],
  ['10:00:00.500', 'e1', 'run_start', {}],
  ['10:00:00.580', 'e1', 'reason_start', { reasonId: 'x1' }],
  ['10:00:01.000', 'e1', 'reason_delta', { reasonId: 'x1', kind: 'text', text: '封面右下角有条形码。' }],
  [
    '10:00:01.200',
    'e1',
    'reason_end',
    {
      reasonId: 'x1',
      text: '封面右下角有条形码。',
      toolCalls: CALLS,
      usage: tokens(1020, 40),
      finishReason: 'tool_calls',
      durationMs: 420,
    },
  ],
  [
    '10:00:01.400',
    'e1',
    'hitl_pending',
    { pendingTasks: [TASK], questions: [{ ...QUESTION, callUuid: 'c1', path: [] }] },
  ],
  [
    '10:00:01.600',
    'e1',
    'run_end',
    {
      text: '等待回答和批准。',
      reason: 'pending',
      abnormal: true,
      metrics: { totalDuration: 1100, ...tokens(1020, 40) },
    },
  ],
  [
    '10:00:01.800',
    '',
    'input_required',
    { inputRequired: { questionId: 'Q1', mode: 'select', questions: [QUESTION], tasks: [TASK] } },
  ],
  [
    '10:01:01.800',
    '',
    'answer_accepted',
    { requestId: 'req-answer-1', questionId: 'Q1', answers: [ANSWER], open: true },
  ],
  [
    '10:01:10.800',
    '',
    'answer_accepted',
    {
      requestId: 'req-decide-1',
      questionId: 'Q1',
      decisions: [{ callUuid: 'c2', decision: 'approve' }],
      open: false,
    },
  ],
  ['10:01:11.000', '', 'run_running', { attempt: 1, hasPictures: true }],
  ['10:01:11.200', 'e2', 'run_start', {}],
  [
    '10:01:11.210',
    'e2',
    'hitl_decided',
    { callId: 'c2', toolName: 'publish', args: TASK.args, comment: TASK.comment, decision: 'approve' },
  ],
  [
    '10:01:11.220',
    'e2',
    'action_start',
    {
      calls: [
        { callId: 'c1', toolName: 'ask_user', args: CALLS[0]?.args as Record<string, never> },
        { callId: 'c2', toolName: 'publish', args: TASK.args },
      ],
    },
  ],
  [
    '10:01:11.230',
    'e2',
    'tool_call_start',
    { callId: 'c1', toolName: 'ask_user', args: CALLS[0]?.args as Record<string, never>, reasonId: 'x1' },
  ],
  [
    '10:01:11.231',
    'e2',
    'tool_call_end',
    {
      callId: 'c1',
      toolName: 'ask_user',
      reasonId: 'x1',
      outcome: 'ok',
      text: JSON.stringify({ answers: [ANSWER] }),
      error: null,
      durationMs: 1,
    },
  ],
  ['10:01:11.240', 'e2', 'tool_call_start', { callId: 'c2', toolName: 'publish', args: TASK.args, reasonId: 'x1' }],
  [
    '10:01:11.252',
    'e2',
    'tool_call_end',
    {
      callId: 'c2',
      toolName: 'publish',
      reasonId: 'x1',
      outcome: 'ok',
      text: 'published',
      error: null,
      durationMs: 12,
    },
  ],
  ['10:01:11.260', 'e2', 'action_end', {}],
  ['10:01:11.400', 'e2', 'reason_start', { reasonId: 'x2' }],
  ['10:01:12.600', 'e2', 'reason_delta', { reasonId: 'x2', kind: 'text', text: RESULT_TEXT }],
  [
    '10:01:13.200',
    'e2',
    'reason_end',
    {
      reasonId: 'x2',
      text: RESULT_TEXT,
      toolCalls: [],
      usage: tokens(1120, 56),
      finishReason: 'stop',
      durationMs: 1800,
    },
  ],
  [
    '10:01:13.400',
    'e2',
    'run_end',
    {
      text: RESULT_TEXT,
      reason: 'completed',
      abnormal: false,
      metrics: { totalDuration: 2200, ...tokens(1120, 56) },
    },
  ],
  ['10:01:13.600', '', 'run_completed', { result: RESULT, artifacts: [], usage: USAGE }],
];

/** Stamps events as the log's writer does: dense `seq` from 1, and the state that each leaves the run in. */
export function stampAll(events: readonly HarnessEvent[]): LoggedEvent[] {
  let state = INITIAL_STATE;
  return events.map((event, index) => {
    state = stageOf(event, state);
    return { ...event, seq: index + 1, ...state } as LoggedEvent;
  });
}

/** The example's events without positions, as their writers make them. */
export const EXAMPLE_HARNESS_EVENTS: readonly HarnessEvent[] = ROWS.map(
  ([time, streamId, type, fields]) =>
    ({
      type,
      runId: EXAMPLE_RUN.runId,
      at: Date.parse(`2026-08-17T${time}Z`),
      agentName: EXAMPLE_RUN.agentName,
      sessionId: EXAMPLE_RUN.sessionId,
      streamId,
      ...fields,
    }) as HarnessEvent,
);

/** The example as the log holds it: seq 1 to 26. */
export const EXAMPLE_EVENTS: readonly LoggedEvent[] = stampAll(EXAMPLE_HARNESS_EVENTS);
