import { CONTENT_SCHEMAS, REQUEST_SCHEMAS, type Schema } from './content.openapi.js';

const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
const ERROR: Schema = { type: 'object', properties: { error: { type: 'string' } } };

const answer = (description: string, schema: Schema, example?: object): Schema => ({
  description,
  content: { 'application/json': { schema, ...(example && { example }) } },
});

const CALL = {
  app_name: 'harness_agent',
  user_id: 'user-001',
  session_id: 'session-001',
  new_message: { role: 'user', parts: [{ text: 'Hello' }] },
  streaming: true,
};

const MCP_SERVER = {
  protocol: 'streamable-http',
  endpoint: 'https://mcp.example.com/mcp',
  api_key: '<mcp-service-token>',
};

const EVENT = {
  content: { role: 'model', parts: [{ text: 'Hello' }] },
  author: 'harness_agent',
  invocationId: 'invocation-001',
  id: 'event-001',
  timestamp: 1789603200,
};

/** `POST /run_sse` as its clients know it; a generator could not make it from this version's code. */
export const RUN_SSE_OPERATION: Schema = {
  tags: ['智能体运行'],
  summary: '流式运行 Harness',
  description:
    'Runs an agent in a session that exists and streams its events, each as `data: <JSON>`. The status 200 says that ' +
    'the run began: a failure is an event too. Sending the call again runs it again, with all its effects.',
  operationId: 'harnessRuntimeRunSse',
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: ref('HarnessRunSseRequest'),
        examples: {
          basic: { summary: '基本调用', value: CALL },
          mcp: { summary: '本次请求覆盖 MCP', value: { ...CALL, harness: { mcp_servers: [MCP_SERVER] } } },
          general: {
            summary: 'KeyAuth 普通覆盖，单个完成事件',
            value: { ...CALL, harness: { system_prompt: 'Answer concisely', tools: 'web_search' } },
          },
        },
      },
    },
  },
  responses: {
    '200': {
      description: 'The events of the run.',
      content: {
        'text/event-stream': { schema: { type: 'string' }, example: `data: ${JSON.stringify(EVENT)}\n\n` },
      },
    },
    '400': answer('The call asks for what cannot be done.', { anyOf: [ERROR, ref('ApiError')] }),
    '404': answer('There is no such session.', ref('ApiError')),
    '411': answer('The length of the body is not known.', ERROR, { error: 'CONTENT_LENGTH_REQUIRED' }),
    '413': answer('The body is too large.', ERROR, { error: 'REQUEST_TOO_LARGE' }),
    '422': answer('The body breaks a rule; each one is named.', ref('HTTPValidationError')),
  },
};

/** The components that the operation names. */
export const RUN_SSE_SCHEMAS: Readonly<Record<string, Schema>> = {
  ...REQUEST_SCHEMAS,
  ...CONTENT_SCHEMAS,
  ApiError: { type: 'object', required: ['detail'], properties: { detail: { type: 'string' } } },
  HTTPValidationError: {
    properties: { detail: { items: ref('ValidationError'), type: 'array', title: 'Detail' } },
    type: 'object',
    title: 'HTTPValidationError',
  },
  ValidationError: {
    properties: {
      loc: {
        items: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
        type: 'array',
        title: 'Location',
      },
      msg: { type: 'string', title: 'Message' },
      type: { type: 'string', title: 'Error Type' },
      input: { title: 'Input' },
      ctx: { type: 'object', title: 'Context' },
    },
    type: 'object',
    required: ['loc', 'msg', 'type'],
    title: 'ValidationError',
  },
};
