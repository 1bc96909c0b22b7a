import 'reflect-metadata';
import type { Json } from '../../../src/common/json.js';
import { AdkRefusal } from '../../../src/transport/adk/adk-refusal.js';
import { Content, Part } from '../../../src/transport/adk/content.dto.js';
import { RunSseRequest } from '../../../src/transport/adk/run-sse.dto.js';
import { toWire } from '../../../src/transport/adk/validation/read-model.js';
import { validateBody } from '../../../src/transport/adk/validation/validate.js';

const validate = <Model extends object>(model: new () => Model, value: unknown): Model =>
  validateBody(model, { kind: 'json', value: value as Exclude<Json, null> });

function issuesOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    if (error instanceof AdkRefusal) return (error.failure.body as { detail: unknown }).detail;
    throw error;
  }
  return [];
}

const PLAIN = { app_name: 'a', user_id: 'u', session_id: 's' };

describe('validateBody', () => {
  it('coerces, keeps free-form maps as they are, and ignores unknown keys of an open model', () => {
    const request = validate(RunSseRequest, {
      ...PLAIN,
      streaming: 'YES',
      state_delta: { some_key: 1, userId: null },
      max_llm_calls: '3',
      unknown_key: 1,
    });
    expect(request).toMatchObject({
      appName: 'a',
      userId: 'u',
      streaming: true,
      stateDelta: { some_key: 1, userId: null },
      maxLlmCalls: 3,
    });
    expect(request).not.toHaveProperty('unknown_key');
  });

  it('names issues by the spelling of the client, at any depth', () => {
    const body = { ...PLAIN, new_message: { parts: [{ inlineData: { data: '!', mime_type: 5 } }, null, { foo: 1 }] } };
    expect(issuesOf(() => validate(RunSseRequest, body))).toMatchObject([
      { type: 'bytes_invalid_encoding', loc: ['body', 'new_message', 'parts', 0, 'inlineData', 'data'] },
      { type: 'string_type', loc: ['body', 'new_message', 'parts', 0, 'inlineData', 'mime_type'], input: 5 },
      { type: 'model_attributes_type', loc: ['body', 'new_message', 'parts', 1], input: null },
      { type: 'extra_forbidden', loc: ['body', 'new_message', 'parts', 2, 'foo'], input: 1 },
    ]);
  });

  it('never shows a secret, wherever the echo comes from', () => {
    const secret = 'planted-secret';
    const servers = [{ endpoint: 'ftp://x', api_key: secret }];
    const bodies = [
      { app_name: 'a', session_id: 's', harness: { mcp_servers: servers } },
      { ...PLAIN, harness: [{ mcp_servers: servers }] },
      { ...PLAIN, harness: { mcp_servers: servers } },
      { ...PLAIN, harness: { mcp_servers: [{ ...servers[0], endpoint: `https://u:${secret}@a.example/mcp` }] } },
      { ...PLAIN, harness: { mcp_servers: [{ endpoint: 'https://a.example', api_key: `${secret}\n` }] } },
      { ...PLAIN, new_message: [{ mcp_servers: servers }] },
      [{ mcp_servers: servers }],
      `{"harness":{"mcp_servers":[{"api_key":"${secret}"}]}}`,
    ];
    for (const body of bodies) {
      const issues = JSON.stringify(issuesOf(() => validate(RunSseRequest, body)));
      expect(issues).toContain('"type"');
      expect(issues).not.toContain(secret);
    }
  });

  it.each([
    ['https://a.example/mcp?x=1', undefined],
    ['HTTP://a.example', undefined],
    ['/mcp', 'Value error, endpoint must be an HTTP(S) URL'],
    ['https://', 'Value error, endpoint must be an HTTP(S) URL'],
    ['https://u:p@a.example', 'Value error, endpoint must not contain credentials'],
    ['https://a.example/#f', 'Value error, endpoint must not contain a fragment'],
    ['https://a.example/\u0007', 'Value error, endpoint must not contain control characters'],
  ])('judges the endpoint %j', (endpoint, msg) => {
    const body = { ...PLAIN, harness: { mcp_servers: [{ endpoint }] } };
    const issues = issuesOf(() => validate(RunSseRequest, body));
    expect(issues).toEqual(msg === undefined ? [] : [expect.objectContaining({ msg })]);
  });

  it.each([
    ['16 servers', Array.from({ length: 16 }, () => ({ endpoint: 'https://a.example' })), []],
    [
      '17 servers',
      Array.from({ length: 17 }, () => ({ endpoint: 'https://a.example', api_key: 'planted' })),
      [{ loc: ['body', 'harness', 'mcp_servers'], msg: 'Value error, mcp_servers must not hold more than 16 servers' }],
    ],
    ['an endpoint of 2,048', [{ endpoint: `https://a.example/${'x'.repeat(2030)}` }], []],
    [
      'an endpoint of 2,049',
      [{ endpoint: `https://a.example/${'x'.repeat(2031)}` }],
      [
        {
          loc: ['body', 'harness', 'mcp_servers', 0, 'endpoint'],
          msg: 'Value error, endpoint must not be longer than 2048 characters',
        },
      ],
    ],
    ['a key of 4,096', [{ endpoint: 'https://a.example', api_key: 'k'.repeat(4096) }], []],
    [
      'a key of 4,097',
      [{ endpoint: 'https://a.example', api_key: 'k'.repeat(4097) }],
      [
        {
          loc: ['body', 'harness', 'mcp_servers', 0, 'api_key'],
          msg: 'Value error, api_key must not be longer than 4096 characters',
        },
      ],
    ],
  ])('limits what a call may bring along: %s', (_, servers, wanted) => {
    const issues = issuesOf(() => validate(RunSseRequest, { ...PLAIN, harness: { mcp_servers: servers } }));
    expect(issues).toEqual(
      wanted.map((issue) => ({ type: 'value_error', ...issue, input: '[redacted]', ctx: { error: {} } })),
    );
  });

  it.each([
    ['user_id', 'a/b', 'a user id must not contain slashes'],
    ['user_id', 'x'.repeat(257), 'a user id must have at most 256 characters'],
    ['session_id', 'a\\b', 'a session id must not contain slashes'],
    ['session_id', 'a\u0000b', 'a session id must not contain control characters'],
    ['session_id', 'x'.repeat(257), 'a session id must have at most 256 characters'],
    ['session_id', ` ${'x'.repeat(256)} `, undefined],
    ['session_id', '', undefined],
  ])('judges %s %j', (key, id, problem) => {
    const issues = issuesOf(() => validate(RunSseRequest, { ...PLAIN, [key]: id }));
    const issue = { type: 'value_error', loc: ['body', key], msg: `Value error, ${problem}`, input: id };
    expect(issues).toEqual(problem === undefined ? [] : [expect.objectContaining(issue)]);
  });

  it('treats keys of the language like any other', () => {
    const parts = JSON.parse('[{"__proto__":1,"constructor":2,"hasOwnProperty":3}]') as Json;
    expect(issuesOf(() => validate(Content, { parts }))).toMatchObject([
      { type: 'extra_forbidden', loc: ['body', 'parts', 0, '__proto__'], input: 1 },
      { type: 'extra_forbidden', loc: ['body', 'parts', 0, 'constructor'], input: 2 },
      { type: 'extra_forbidden', loc: ['body', 'parts', 0, 'hasOwnProperty'], input: 3 },
    ]);
  });

  it('cuts a text that is no object', () => {
    const [issue] = issuesOf(() => validate(RunSseRequest, 'x'.repeat(500))) as { input: string }[];
    expect(issue?.input).toBe('x'.repeat(200));
  });
});

describe('toWire', () => {
  it('writes camelCase in the order of the wire, without unset fields', () => {
    const part = validate(Part, {
      thought: 'true',
      text: 'hi',
      inline_data: { mime_type: 'image/png', data: '+//+ABA', display_name: null },
      part_metadata: { snake_key: null },
      function_call: null,
    });
    expect(JSON.stringify(toWire(part))).toBe(
      '{"inlineData":{"data":"-__-ABA=","mimeType":"image/png"},"text":"hi","thought":true,"partMetadata":{"snake_key":null}}',
    );
  });
});
