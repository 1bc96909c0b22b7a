import { AppError } from '../../../src/common/app-error.js';
import { Action, ResourceInput } from '../../../src/transport/grpc/generated/harness/v1/action.js';
import { GetRunRequest } from '../../../src/transport/grpc/generated/harness/v1/run.js';
import {
  CreateSessionRequest,
  GetSessionRequest,
  ListSessionsRequest,
} from '../../../src/transport/grpc/generated/harness/v1/session.js';
import { GetRunDto, GetSessionDto, ListSessionsDto } from '../../../src/transport/grpc/grpc.dto.js';
import { checked, toCommand, toCreateSession, toOnDisconnect } from '../../../src/transport/grpc/grpc.requests.js';

const FACTS = { attached: false, onDisconnect: 'continue' } as const;

/** `CODE: text` of what the work throws. */
function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof AppError) return `${error.reason}: ${error.message}`;
    throw error;
  }
  return 'accepted';
}

type MessageInput = Parameters<typeof Action.fromPartial>[0]['action'] & { $case: 'message' };

const aMessage = (value: MessageInput['value'], ids: { session_id?: string; request_id?: string } = {}): Action =>
  Action.fromPartial({ session_id: 'S1', request_id: 'r1', ...ids, action: { $case: 'message', value } });

const aResource = (resource: Parameters<typeof ResourceInput.fromPartial>[0]): Action =>
  aMessage({ resources: [resource] });

describe('an action', () => {
  it.each([
    ['no request id', aMessage({ text: 'hi' }, { request_id: '' }), 'REQUEST_ID_REQUIRED: request_id is required'],
    ['no session id', aMessage({ text: 'hi' }, { session_id: '' }), 'ID_INVALID: session_id must not be empty'],
    ['white space at an end', aMessage({ text: 'hi' }, { session_id: 'S1 ' }), /^ID_INVALID: session_id /],
    ['a control character', aMessage({ text: 'hi' }, { request_id: 'a\u0000b' }), /^ID_INVALID: request_id /],
    ['an id that is too long', aMessage({ text: 'hi' }, { request_id: 'r'.repeat(129) }), /^ID_INVALID: .*128/],
    ['no action', Action.fromPartial({ session_id: 'S1', request_id: 'r1' }), /^INVALID_BODY: action must be one of/],
    ['neither text nor picture', aMessage({}), /^INVALID_BODY: a message needs/],
    ['an empty text', aMessage({ text: '' }), /^INVALID_BODY: a message needs/],
    ['an unknown mode', aMessage({ text: 'hi', mode: 'later' }), /^INVALID_BODY: mode must be one of queue, reject/],
    ['an unknown time zone', aMessage({ text: 'hi', time_zone: 'Mars/Base' }), /^TIME_ZONE_INVALID: time_zone /],
    ['an offset as time zone', aMessage({ text: 'hi', time_zone: '+08:00' }), /^TIME_ZONE_INVALID: time_zone /],
    ['an unknown capability', aMessage({ text: 'hi', capabilities: ['sight'] }), /^INVALID_BODY: capabilities /],
    ['a capability twice', aMessage({ text: 'hi', capabilities: ['vision', 'vision'] }), /^INVALID_BODY: capab/],
    ['an unknown end', aMessage({ text: 'hi', on_disconnect: 'stay' }), /^INVALID_BODY: on_disconnect must be one of/],
    ['a webhook', aMessage({ text: 'hi', webhook: { url: 'https://a.example' } }), /^NOT_IMPLEMENTED: webhook /],
    ['eleven pictures', aMessage({ resources: Array(11).fill({ resource_id: 'a' }) }), /^RESOURCE_INVALID: .*10/],
    ['an empty resource', aResource({}), /^RESOURCE_INVALID: a resource needs/],
    ['a bad resource id', aResource({ resource_id: ' a' }), /^ID_INVALID: resource_id /],
    ['an artifact', aResource({ source: { $case: 'artifact_id', value: 'a1' } }), /^NOT_IMPLEMENTED: artifact_id /],
    ['an unknown source type', aResource({ resource_id: 'a', source_type: 'ftp' }), /^RESOURCE_INVALID: source_type /],
    [
      'a source type that does not agree',
      aResource({ source: { $case: 'url', value: 'https://a.example/b.png' }, source_type: 'base64' }),
      /^RESOURCE_INVALID: source_type base64 does not agree/,
    ],
  ])('with %s is refused', (_what, action, expected) => {
    const text = refusal(() => toCommand(action, FACTS));
    if (typeof expected === 'string') expect(text).toBe(expected);
    else expect(text).toMatch(expected);
  });

  it.each(['answer', 'steer'] as const)('%s is not available yet', ($case) => {
    const action = Action.fromPartial({ session_id: 'S1', request_id: 'r1', action: { $case, value: {} } });
    expect(refusal(() => toCommand(action, FACTS))).toBe(`NOT_IMPLEMENTED: the action ${$case} is not available`);
  });

  it('of a message keeps everything in order', () => {
    const bytes = new Uint8Array([1, 2, 3]);
    const action = aMessage({
      text: '看图',
      resources: [
        { resource_id: 'u', source: { $case: 'url', value: 'https://a.example/b.png?sig=1' } },
        { source: { $case: 'data', value: bytes }, mime_type: 'image/png', source_type: 'base64' },
        { resource_id: 'old', source_type: 'upload' },
      ],
      time_zone: 'Asia/Shanghai',
      mode: 'reject',
      capabilities: ['vision'],
      response_schema: { type: 'object' },
      on_disconnect: 'cancel',
    });
    expect(toCommand(action, { attached: true, onDisconnect: 'continue' })).toEqual({
      kind: 'message',
      submit: {
        door: 'grpc',
        sessionId: 'S1',
        requestId: 'r1',
        attached: true,
        parts: [
          { kind: 'text', text: '看图' },
          { kind: 'resource', resource: { kind: 'url', resourceId: 'u', url: 'https://a.example/b.png?sig=1' } },
          { kind: 'resource', resource: { kind: 'bytes', resourceId: undefined, bytes, mimeType: 'image/png' } },
          { kind: 'resource', resource: { kind: 'stored', resourceId: 'old', sourceType: 'upload' } },
        ],
        timeZone: 'Asia/Shanghai',
        mode: 'reject',
        capabilities: ['vision'],
        responseSchema: { type: 'object' },
        onDisconnect: 'cancel',
      },
    });
  });

  it('of a message leaves out what was not sent', () => {
    expect(toCommand(aMessage({ text: 'hi' }), FACTS)).toEqual({
      kind: 'message',
      submit: {
        door: 'grpc',
        sessionId: 'S1',
        requestId: 'r1',
        attached: false,
        parts: [{ kind: 'text', text: 'hi' }],
        onDisconnect: 'continue',
      },
    });
  });

  it('of a cancel names its run and reason', () => {
    const action = Action.fromPartial({
      session_id: 'S1',
      request_id: 'r1',
      action: { $case: 'cancel', value: { run_id: 'R1', reason: 'enough' } },
    });
    expect(toCommand(action, FACTS)).toEqual({
      kind: 'cancel',
      cancel: { sessionId: 'S1', requestId: 'r1', runId: 'R1', reason: 'enough' },
    });
  });
});

describe('the other requests', () => {
  it.each([
    ['user_id', { user_id: 'u\n' }, 'ID_INVALID'],
    ['agent', { agent: 'a'.repeat(129) }, 'ID_INVALID'],
    ['request_id', { request_id: '' }, 'ID_INVALID'],
    ['client_reference', { client_reference: '' }, 'INVALID_BODY'],
    ['time_zone', { time_zone: 'nowhere' }, 'TIME_ZONE_INVALID'],
    ['capabilities', { capabilities: ['x'] }, 'INVALID_BODY'],
  ])('a session with a bad %s is refused', (field, fields, reason) => {
    const text = refusal(() => toCreateSession(CreateSessionRequest.fromPartial(fields)));
    expect(text).toMatch(new RegExp(`^${reason}: ${field} `));
  });

  it('128 characters outside the basic plane are a fine client reference', () => {
    const client_reference = '𠮷'.repeat(128);
    const command = toCreateSession(CreateSessionRequest.fromPartial({ client_reference, user_id: 'ü😀' }));
    expect([command.clientReference, command.userId]).toEqual([client_reference, 'ü😀']);
  });

  it.each([
    [GetSessionDto, GetSessionRequest.fromPartial({ session_id: 'S1', runs: 0 }), /^INVALID_BODY: runs must be from 1/],
    [GetSessionDto, GetSessionRequest.fromPartial({ session_id: 'S1', runs: 201 }), /^INVALID_BODY: runs /],
    [ListSessionsDto, ListSessionsRequest.fromPartial({ limit: -1 }), /^INVALID_BODY: limit /],
    [GetRunDto, GetRunRequest.fromPartial({ session_id: 'S1', run_id: '' }), /^ID_INVALID: run_id /],
    [GetRunDto, GetRunRequest.fromPartial({ session_id: 'S1', run_id: 'R1', limit: 501 }), /^INVALID_BODY: limit /],
    [GetRunDto, GetRunRequest.fromPartial({ session_id: 'S1', run_id: 'R1', wait_ms: 25_001 }), /^INVALID_BODY: wait/],
    [
      GetRunDto,
      GetRunRequest.fromPartial({ session_id: 'S1', run_id: 'R1', after_seq: '9007199254740992' }),
      /^CURSOR_INVALID: after_seq /,
    ],
  ])('%p refuses what is out of range', (dto: new () => object, message, expected) => {
    expect(refusal(() => checked(dto, message))).toMatch(expected);
  });

  it('a call may say what its end means', () => {
    expect(toOnDisconnect(undefined, 'continue')).toBe('continue');
    expect(toOnDisconnect('cancel', 'continue')).toBe('cancel');
    expect(refusal(() => toOnDisconnect('maybe', 'continue'))).toMatch(/^INVALID_BODY: x-on-disconnect /);
  });
});
