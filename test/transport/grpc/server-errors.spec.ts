import { status as Status } from '@grpc/grpc-js';
import { AppError } from '../../../src/common/app-error.js';
import type { Reason } from '../../../src/common/reasons.js';
import { Action } from '../../../src/transport/grpc/generated/harness/v1/action.js';
import { CreateSessionRequest } from '../../../src/transport/grpc/generated/harness/v1/session.js';
import { startGrpcApp, type RunningGrpcApp } from '../../support/grpc-app.js';
import { failureOf, GrpcTestClient, readAll, type CallEnd } from '../../support/grpc-client.js';
import {
  aStream,
  fromStart,
  grpcConfig,
  KEY,
  MAX_RECEIVE_BYTES,
  OBSERVE,
  RECEIPT,
  SAY,
  SESSION,
  type FakeServices,
} from '../../support/grpc-fixtures.js';

const CREATE = CreateSessionRequest.fromPartial({});
const GET = { session_id: 'S1', runs: undefined, before: undefined, events: undefined };

function end(code: Status, bridleCode: Reason, text: string): CallEnd {
  return { code, details: `${bridleCode}: ${text}`, bridleCode };
}

describe('errors over gRPC', () => {
  let sessions: FakeServices['sessions'];
  let runs: FakeServices['runs'];
  let running: RunningGrpcApp;
  let client: GrpcTestClient;

  beforeAll(async () => {
    [sessions, runs] = [{}, {}];
    running = await startGrpcApp(grpcConfig(), { sessions, runs });
    client = new GrpcTestClient(running.address, { authorization: `Bearer ${KEY}` });
  });

  afterAll(async () => {
    client.close();
    await running.close();
  });

  it.each([
    ['no key', {}],
    ['a bad key', { authorization: 'Bearer wrong' }],
  ])('%s: every method is UNAUTHENTICATED and no service is called', async (_what, headers: Record<string, string>) => {
    let calls = 0;
    sessions.create = async () => ((calls += 1), { session: SESSION, replayed: false });
    runs.submit = async () => ((calls += 1), RECEIPT);
    runs.observe = async () => ((calls += 1), aStream());
    const stranger = new GrpcTestClient(running.address, headers);
    const ends = [
      await failureOf(stranger.call('createSession', CREATE)),
      await failureOf(stranger.call('submit', SAY)),
      await failureOf(stranger.call('getRunAudit', { session_id: 'S1', run_id: 'R1' })),
      (await readAll(stranger.stream('submitAndObserve', SAY))).end,
      (await readAll(stranger.stream('observe', OBSERVE))).end,
    ];
    stranger.close();
    expect(ends.map(({ code, bridleCode }) => [code, bridleCode])).toEqual(
      ends.map(() => [Status.UNAUTHENTICATED, 'UNAUTHENTICATED']),
    );
    expect(calls).toBe(0);
  });

  it.each([
    ['a session that is missing or foreign', 'SESSION_NOT_FOUND', Status.NOT_FOUND],
    ['a session that was deleted', 'SESSION_CLOSED', Status.NOT_FOUND],
    ['a database that does not answer', 'STORE_UNAVAILABLE', Status.UNAVAILABLE],
  ] as const)('%s: %s', async (_what, reason, code) => {
    runs.snapshot = async () => {
      throw new AppError(reason, 'why');
    };
    expect(await failureOf(client.call('getSession', GET))).toEqual(end(code, reason, 'why'));
  });

  it.each([
    ['SESSION_BUSY', Status.ABORTED],
    ['REQUEST_ID_CONFLICT', Status.FAILED_PRECONDITION],
    ['CAPABILITY_NOT_ENABLED', Status.PERMISSION_DENIED],
    ['QUEUE_FULL', Status.RESOURCE_EXHAUSTED],
    ['IMAGE_UNREADABLE', Status.INVALID_ARGUMENT],
  ] as const)('%s is the same on Submit and on the stream', async (reason, code) => {
    runs.submit = async () => {
      throw new AppError(reason, 'why');
    };
    const expected = end(code, reason, 'why');
    expect(await failureOf(client.call('submit', SAY))).toEqual(expected);
    expect((await readAll(client.stream('submitAndObserve', SAY))).end).toEqual(expected);
  });

  it.each([
    ['RUN_NOT_FOUND', Status.NOT_FOUND],
    ['CURSOR_AHEAD', Status.FAILED_PRECONDITION],
    ['CURSOR_EXPIRED', Status.OUT_OF_RANGE],
  ] as const)('Observe ends with %s before any message', async (reason, code) => {
    runs.observe = async () => {
      throw new AppError(reason, 'why');
    };
    expect(await readAll(client.stream('observe', OBSERVE))).toEqual({ events: [], end: end(code, reason, 'why') });
  });

  it('a bad id is INVALID_ARGUMENT', async () => {
    const { code, bridleCode } = await failureOf(client.call('getSession', { ...GET, session_id: ' S1' }));
    expect([code, bridleCode]).toEqual([Status.INVALID_ARGUMENT, 'ID_INVALID']);
  });

  it.each(['cancel', 'answer', 'steer'] as const)(
    'SubmitAndObserve refuses %s before it does anything',
    async ($case) => {
      runs.cancel = runs.submit = async () => {
        throw new Error('must not be called');
      };
      const action = Action.fromPartial({ session_id: 'S1', request_id: 'r1', action: { $case, value: {} } });
      const { code, bridleCode } = (await readAll(client.stream('submitAndObserve', action))).end;
      expect([code, bridleCode]).toEqual(
        $case === 'cancel' ? [Status.INVALID_ARGUMENT, 'INVALID_BODY'] : [Status.UNIMPLEMENTED, 'NOT_IMPLEMENTED'],
      );
    },
  );

  it('what is not there yet is UNIMPLEMENTED', async () => {
    const decision = {
      ...{ session_id: 'S1', run_id: 'R1', call_uuid: 'c2', request_id: 'r1', decision: 'approve' },
      ...{ comment: undefined, modified_args: undefined, always_allow: undefined },
    };
    expect(await failureOf(client.call('decide', decision))).toEqual(
      end(Status.UNIMPLEMENTED, 'NOT_IMPLEMENTED', 'Decide is not available'),
    );
    expect(await failureOf(client.call('getRunAudit', { session_id: 'S1', run_id: 'R1' }))).toEqual(
      end(Status.UNIMPLEMENTED, 'NOT_IMPLEMENTED', 'GetRunAudit is not available'),
    );
    expect((await client.sendBytes('/harness.v1.AgentHarness/Fly', Buffer.alloc(0))).code).toBe(Status.UNIMPLEMENTED);
  });

  it('bytes that are no message are INVALID_ARGUMENT, on every method', async () => {
    const methods = ['CreateSession', 'GetSession', 'Submit', 'GetRun', 'Decide', 'Observe', 'SubmitAndObserve'];
    for (const method of methods) {
      const broken = await client.sendBytes(`/harness.v1.AgentHarness/${method}`, Buffer.from([0x0a, 0x7f, 0x01]));
      expect([method, broken]).toEqual([
        method,
        end(Status.INVALID_ARGUMENT, 'INVALID_BODY', 'the bytes of the request are not a message of this method'),
      ]);
    }
  });

  it('half of a surrogate pair is INVALID_ARGUMENT', async () => {
    const bytes = Buffer.from([0x0a, 0x03, 0xed, 0xa0, 0xbd]);
    const { code, bridleCode } = await client.sendBytes('/harness.v1.AgentHarness/CreateSession', bytes);
    expect([code, bridleCode]).toEqual([Status.INVALID_ARGUMENT, 'INVALID_BODY']);
  });

  it('a message over the limit is RESOURCE_EXHAUSTED, one below is not', async () => {
    runs.submit = async () => RECEIPT;
    const ofLength = (length: number): Action =>
      Action.fromPartial({
        ...{ session_id: 'S1', request_id: 'r1' },
        action: { $case: 'message', value: { text: 'x'.repeat(length) } },
      });
    expect(await failureOf(client.call('submit', ofLength(MAX_RECEIVE_BYTES)))).toEqual(
      end(Status.RESOURCE_EXHAUSTED, 'BODY_TOO_LARGE', 'the message is larger than the server accepts'),
    );
    expect((await client.call('submit', ofLength(MAX_RECEIVE_BYTES - 100))).disposition).toBe('started');
  });

  it('a throw stays inside its call: it says nothing, is logged once, and the others go on', async () => {
    runs.observe = async (_principal, { runId }) => {
      if (runId === 'bad') throw new Error('secret of the inside');
      return aStream(fromStart(0));
    };
    const before = running.log.lines.length;
    const streams = Array.from({ length: 20 }, (_, index) =>
      readAll(client.stream('observe', { ...OBSERVE, run_id: index % 2 === 0 ? 'bad' : 'R1' })),
    );
    const ends = await Promise.all(streams);
    expect(ends.filter(({ end: { code } }) => code === Status.OK).map(({ events }) => events.length)).toEqual(
      Array(10).fill(26),
    );
    expect(ends.filter(({ end: { code } }) => code !== Status.OK).map((failed) => failed.end)).toEqual(
      Array(10).fill(end(Status.INTERNAL, 'INTERNAL', 'internal error')),
    );
    const logged = running.log.lines.slice(before);
    expect(logged.map(({ level, message, fields }) => [level, message, fields['method']])).toEqual(
      Array(10).fill(['error', 'call failed', '/harness.v1.AgentHarness/Observe']),
    );
  });

  it('a throw in the middle of a stream ends it after what was sent', async () => {
    runs.observe = async () =>
      aStream(async function* () {
        yield* fromStart(24)();
        throw new AppError('STORE_UNAVAILABLE', 'the database does not answer');
      });
    const { events, end: last } = await readAll(client.stream('observe', OBSERVE));
    expect([events.map(({ id }) => id), last]).toEqual([
      ['25', '26'],
      end(Status.UNAVAILABLE, 'STORE_UNAVAILABLE', 'the database does not answer'),
    ]);
  });
});
