import { RUN_SCHEMAS } from './openapi-run-schemas.js';
import {
  ref,
  listOf,
  text,
  textOrNull,
  count,
  flag,
  time,
  anyObject,
  oneOf,
  object,
  capabilities,
  runStatus,
  machineKey,
  type Schema,
} from './schema-builder.js';

const sessionSchemas = {
  Agent: object(
    {
      name: text,
      description: text,
      capabilities,
      model: text,
      result_kinds: listOf(oneOf('json', 'text')),
    },
    ['name'],
  ),
  AgentList: object({ agents: listOf(ref('Agent')) }, ['agents']),
  Session: object(
    {
      id: text,
      created_at: time,
      status: oneOf('idle', 'running', 'waiting_input', 'closed'),
      capabilities,
      client_reference: textOrNull,
      agent: text,
      user_id: text,
      time_zone: textOrNull,
      updated_at: time,
      active_run_id: textOrNull,
      last_run_id: textOrNull,
      state: anyObject,
    },
    ['id', 'status', 'capabilities'],
  ),
  SessionList: object({ sessions: listOf(ref('Session')), next_page_token: textOrNull, has_more: flag }, [
    'sessions',
    'next_page_token',
    'has_more',
  ]),
  SessionClosed: object({ id: text, status: oneOf('closed') }, ['id', 'status']),
  SessionSnapshot: object(
    {
      session: ref('Session'),
      session_id: text,
      last_run_id: textOrNull,
      last_status: textOrNull,
      runs: listOf(ref('Run')),
      has_more_runs: flag,
    },
    ['session', 'session_id', 'last_run_id', 'last_status', 'runs'],
  ),
} satisfies Record<string, Schema>;

const eventProperties = {
  session_id: text,
  run_id: text,
  capabilities,
  status: runStatus,
  code: machineKey,
  stage: machineKey,
  state: oneOf('pending', 'active', 'done', 'failed', 'skipped'),
  time,
  message: { type: 'string', description: 'Human text in the language of the run.' },
};

const TYPES = 'run.queued, run.running, run.progress, run.message_delta, run.tool_started … run.completed.';
const eventType: Schema = { type: 'string', description: `${TYPES} Accept unknown ones.` };

/** One frame of a stream: its `id` and `event` lines, and its `data` line parsed. */
const frameOf = (description: string, data: string): Schema => ({
  ...object({ id: count, event: eventType, data: ref(data) }, ['id', 'event', 'data']),
  description,
});

const eventSchemas = {
  EventData: {
    ...object(eventProperties, ['session_id', 'run_id', 'status', 'code', 'stage']),
    description: 'Common fields, then the own fields of the type.',
    additionalProperties: true,
  },
  Event: object({ id: count, type: eventType, data: ref('EventData') }, ['id', 'type', 'data']),
  EventItem: {
    ...object({ id: count, type: eventType, code: machineKey, stage: machineKey, state: text, time, message: text }, [
      'id',
    ]),
    additionalProperties: true,
  },
  FlatData: {
    ...object({ session_id: text, run_id: text, code: machineKey, stage: machineKey }, ['session_id', 'run_id']),
    additionalProperties: true,
  },
  FlatFrame: frameOf('One frame of a stream in the flat encoding; a stream is many of them.', 'FlatData'),
  EnvelopeFrame: frameOf('One frame of a stream in the envelope encoding; a stream is many of them.', 'Event'),
} satisfies Record<string, Schema>;

const errorSchemas = {
  RunError: object({ code: machineKey, message: text, retryable: flag, stage: text, details: anyObject }, [
    'code',
    'message',
    'retryable',
    'stage',
  ]),
  ErrorBody: object(
    {
      error: object(
        {
          code: machineKey,
          message: text,
          trace_id: text,
          retryable: flag,
          request_id: text,
          retry_after_ms: count,
          details: anyObject,
        },
        ['code', 'message', 'trace_id', 'retryable'],
      ),
    },
    ['error'],
  ),
} satisfies Record<string, Schema>;

/** The objects of `/v1` answers. What the API's first documents left out is optional, though it is always sent. */
export const RESPONSE_SCHEMAS: Readonly<Record<string, Schema>> = {
  ...sessionSchemas,
  ...RUN_SCHEMAS,
  ...eventSchemas,
  ...errorSchemas,
};
