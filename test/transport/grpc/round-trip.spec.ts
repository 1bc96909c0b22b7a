import type { ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import { Action, Receipt } from '../../../src/transport/grpc/generated/harness/v1/action.js';
import { RunEvent } from '../../../src/transport/grpc/generated/harness/v1/event.js';
import { CreateSessionRequest, Session } from '../../../src/transport/grpc/generated/harness/v1/session.js';
import { serviceDefinition } from '../../../src/transport/grpc/service-definition.js';

const service = serviceDefinition()['harness.v1.AgentHarness'] as ServiceDefinition<UntypedServiceImplementation>;
const decodeRequest = (method: string, bytes: Uint8Array): unknown =>
  service[method]?.requestDeserialize(Buffer.from(bytes));

/** `{"a":{"b":[1,null,"x",{"c":true}]},"n":9007199254740993}` */
const STATE = JSON.parse('{"a":{"b":[1,null,"x",{"c":true}]},"n":9007199254740993}') as { readonly n: number };

describe('messages on the wire', () => {
  it('keep free JSON whole; its numbers are doubles', () => {
    const bytes = CreateSessionRequest.encode(CreateSessionRequest.fromPartial({ state: STATE })).finish();
    const { state } = decodeRequest('CreateSession', bytes) as CreateSessionRequest;
    expect(state).toEqual({ a: { b: [1, null, 'x', { c: true }] }, n: 9007199254740992 });
    expect(JSON.stringify(Session.toJSON(Session.fromPartial({ state })))).toContain(
      '"state":{"a":{"b":[1,null,"x",{"c":true}]},"n":9007199254740992}',
    );
  });

  it.each([
    ['an empty object', {}],
    ['null inside', { gone: null }],
    ['nested lists', { rows: [[1, [2]], []] }],
    ['names of Object.prototype', { constructor: 1, toString: 'x', hasOwnProperty: false }],
    ['a text that looks like JSON', { s: '{"a":1}' }],
    ['characters of every plane', { '键😀': '👨‍👩‍👧 𠮷 \u0000' }],
    ['numbers', { n: [0, -0.5, 1e308, 5e-324] }],
  ])('keep free JSON whole: %s', (_what, state) => {
    const bytes = Session.encode(Session.fromPartial({ id: 'S1', state })).finish();
    expect(Session.decode(bytes).state).toEqual(state);
  });

  it('tell absent from empty', () => {
    const decode = (session: Parameters<typeof Session.fromPartial>[0]): unknown =>
      Session.toJSON(Session.decode(Session.encode(Session.fromPartial(session)).finish()));
    expect(decode({ id: 'S1', client_reference: '' })).toEqual({ id: 'S1', clientReference: '' });
    expect(decode({ id: 'S1' })).toEqual({ id: 'S1' });
    expect(decode({ id: 'S1', state: {} })).toEqual({ id: 'S1', state: {} });
  });

  it('hold 64-bit integers as text, zero included', () => {
    const receipt = Receipt.decode(Receipt.encode(Receipt.fromPartial({ cursor: '9007199254740993' })).finish());
    expect(receipt.cursor).toBe('9007199254740993');
    expect(Receipt.decode(Receipt.encode(Receipt.fromPartial({ cursor: '0' })).finish()).cursor).toBe('0');
    const event = RunEvent.decode(
      RunEvent.encode(RunEvent.fromPartial({ id: '7', data: { duration_ms: '0' } })).finish(),
    );
    expect([event.id, event.data?.duration_ms]).toEqual(['7', '0']);
  });

  it('keep the bytes of a picture', () => {
    const value = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const sent = Action.fromPartial({
      session_id: 'S1',
      request_id: 'r1',
      action: { $case: 'message', value: { resources: [{ source: { $case: 'data', value } }] } },
    });
    const got = decodeRequest('Submit', Action.encode(sent).finish()) as Action;
    const [resource] = got.action?.$case === 'message' ? got.action.value.resources : [];
    expect(Buffer.from((resource?.source?.value as Uint8Array) ?? [])).toEqual(Buffer.from(value));
  });

  it.each([
    ['a lone surrogate', [0xed, 0xa0, 0xbd]],
    ['a broken sequence', [0xff, 0xfe]],
  ])('refuse text that is not UTF-8: %s', (_what, text) => {
    // Field 1 of CreateSessionRequest, length-delimited.
    expect(() => decodeRequest('CreateSession', Uint8Array.from([0x0a, text.length, ...text]))).toThrow();
    expect(decodeRequest('CreateSession', Uint8Array.from([0x0a, 1, 0x41]))).toMatchObject({ agent: 'A' });
  });
});
