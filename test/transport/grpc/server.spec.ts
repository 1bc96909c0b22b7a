import { once } from 'node:events';
import { status as Status } from '@grpc/grpc-js';
import type { Principal } from '../../../src/auth/principal.js';
import { AppError } from '../../../src/common/app-error.js';
import type { LoggedEvent } from '../../../src/events/projection.js';
import { NO_USAGE } from '../../../src/events/values.js';
import type { SubmitMessage } from '../../../src/runs/runs.types.js';
import { OpenStreams } from '../../../src/transport/http/open-streams.js';
import { Action } from '../../../src/transport/grpc/generated/harness/v1/action.js';
import { CreateSessionRequest } from '../../../src/transport/grpc/generated/harness/v1/session.js';
import { EXAMPLE_EVENTS } from '../../support/example-run.js';
import { startGrpcApp, type RunningGrpcApp } from '../../support/grpc-app.js';
import { failureOf, GrpcTestClient, readAll } from '../../support/grpc-client.js';
import {
  aStream,
  fromStart,
  grpcConfig,
  KEY,
  OBSERVE,
  RECEIPT,
  RUN,
  SAY,
  SESSION,
  thenSilence,
  type FakeServices,
} from '../../support/grpc-fixtures.js';

describe('the gRPC server', () => {
  let sessions: FakeServices['sessions'];
  let runs: FakeServices['runs'];
  let running: RunningGrpcApp;
  let client: GrpcTestClient;

  beforeEach(async () => {
    [sessions, runs] = [{}, {}];
    running = await startGrpcApp(grpcConfig(), { sessions, runs });
    client = new GrpcTestClient(running.address, { authorization: `Bearer ${KEY}` });
  });

  afterEach(async () => {
    client.close();
    await running.close();
  });

  it('creates a session for the caller and shows its state', async () => {
    let asked: unknown;
    sessions.create = async (principal: Principal, command) => {
      asked = { tenant: principal.tenantId, subject: principal.subject, state: command.state };
      return { session: SESSION, replayed: false };
    };
    const state = { n: 1, gone: null };
    const session = await client.call('createSession', CreateSessionRequest.fromPartial({ state }));
    expect(asked).toEqual({ tenant: 'acme', subject: 'ann', state });
    expect(session).toEqual({
      id: 'S1',
      created_at: '2026-08-17T10:00:00.000Z',
      status: 'idle',
      capabilities: ['vision'],
      client_reference: '',
      agent: 'vision_agent',
      user_id: 'ann',
      time_zone: undefined,
      updated_at: '2026-08-17T10:00:00.000Z',
      active_run_id: undefined,
      last_run_id: undefined,
      state,
    });
  });

  it('reads a session with its runs, their events and audit', async () => {
    let asked: unknown;
    runs.snapshot = async (_principal, sessionId, query) => {
      asked = { sessionId, query };
      const requests = [
        {
          requestId: 'r1',
          action: 'message',
          mode: 'queue' as const,
          text: 'hi',
          resources: [],
          receivedAt: RUN.createdAt,
          actor: 'ann',
          disposition: 'started',
          appliedAtEvent: 1,
        },
      ];
      const responses = [
        { kind: 'accepted', httpStatus: 202, accepted: true, time: RUN.createdAt, eventId: 1 } as const,
      ];
      const record = { run: RUN, requests, responses, events: EXAMPLE_EVENTS.slice(0, 2) };
      return { session: SESSION, lastRunId: 'R1', lastStatus: 'running', runs: [record], hasMoreRuns: true };
    };
    const request = { session_id: 'S1', runs: undefined, before: undefined, events: undefined };
    const snapshot = await client.call('getSession', request);
    expect(asked).toEqual({ sessionId: 'S1', query: { runs: 20, before: undefined, events: true } });
    const [run] = snapshot.runs;
    expect([snapshot.session_id, snapshot.last_status, snapshot.has_more_runs]).toEqual(['S1', 'running', true]);
    expect([run?.run_id, run?.status, run?.usage?.total_tokens, run?.started_at]).toEqual([
      'R1',
      'running',
      '0',
      undefined,
    ]);
    expect(run?.events.map(({ id, type }) => [id, type])).toEqual([
      ['1', 'run.queued'],
      ['2', 'run.running'],
    ]);
    expect(run?.requests[0]).toMatchObject({ request_id: 'r1', text: 'hi', applied_at_event: '1' });
    expect(run?.responses[0]).toMatchObject({ kind: 'accepted', http_status: 202, accepted: true, event_id: '1' });
  });

  it('lists and deletes sessions', async () => {
    const closed: string[] = [];
    sessions.list = async () => ({
      sessions: [{ ...SESSION, mergedState: undefined }],
      nextPageToken: 'p',
      hasMore: true,
    });
    runs.closeSession = async (_principal, sessionId) => void closed.push(sessionId);
    const list = await client.call('listSessions', {
      client_reference: undefined,
      page_token: undefined,
      limit: undefined,
    });
    expect([list.sessions.length, list.sessions[0]?.state, list.next_page_token, list.has_more]).toEqual([
      1,
      undefined,
      'p',
      true,
    ]);
    expect(await client.call('deleteSession', { session_id: 'S1' })).toEqual({ id: 'S1', status: 'closed' });
    expect(closed).toEqual(['S1']);
  });

  it('accepts a message without waiting for its run', async () => {
    const submitted: SubmitMessage[] = [];
    runs.submit = async (_principal, command) => (submitted.push(command), RECEIPT);
    const receipt = await client.call('submit', SAY, { headers: { 'x-on-disconnect': 'cancel' } });
    expect(submitted).toEqual([
      {
        door: 'grpc',
        sessionId: 'S1',
        requestId: 'r1',
        attached: false,
        parts: [{ kind: 'text', text: 'hi' }],
        onDisconnect: 'continue',
      },
    ]);
    expect(receipt).toEqual({
      accepted: true,
      session_id: 'S1',
      run_id: 'R1',
      request_id: 'r1',
      action: 'message',
      mode: 'queue',
      disposition: 'started',
      status: 'queued',
      code: 'RUN_QUEUED',
      stage: 'queued',
      queue_position: 0,
      answer: undefined,
      cursor: '1',
    });
  });

  it('leaves one line in the log for each message, with ids and without the text', async () => {
    runs.submit = async () => RECEIPT;
    runs.observe = async () => aStream();
    const headers = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
    await client.call('submit', SAY, { headers });
    await readAll(client.stream('submitAndObserve', SAY, headers));
    const fields = {
      traceId: '0af7651916cd43dd8448eb211c80319c',
      action: 'message',
      sessionId: 'S1',
      runId: 'R1',
      requestId: 'r1',
      disposition: 'started',
    };
    const line = { level: 'info', message: 'action accepted', fields };
    expect(running.log.lines).toEqual([line, line]);
  });

  it('accepts a cancel', async () => {
    runs.cancel = async (_principal, command) => ({
      ...RECEIPT,
      action: 'cancel',
      requestId: command.requestId,
      runId: null,
    });
    const cancel = Action.fromPartial({ session_id: 'S1', request_id: 'c1', action: { $case: 'cancel', value: {} } });
    const receipt = await client.call('submit', cancel);
    expect([receipt.action, receipt.request_id, receipt.run_id]).toEqual(['cancel', 'c1', undefined]);
  });

  it('reads a page of a run', async () => {
    let asked: unknown;
    runs.page = async (_principal, query) => {
      asked = query;
      return { run: RUN, events: EXAMPLE_EVENTS.slice(8, 9), nextCursor: 9, hasMore: true };
    };
    const request = { session_id: 'S1', run_id: 'R1', after_seq: '8', limit: 1, wait_ms: undefined };
    const page = await client.call('getRun', request);
    expect(asked).toEqual({ sessionId: 'S1', runId: 'R1', cursor: 8, limit: 1, waitMs: 0 });
    expect([page.session_id, page.run_id, page.next_cursor, page.has_more]).toEqual(['S1', 'R1', '9', true]);
    expect(page.events.map(({ id }) => id)).toEqual(['9']);
  });

  it('stops waiting for a page when its caller leaves', async () => {
    const left = new Promise<void>((resolve) => {
      runs.page = async (_principal, _query, signal) => {
        await once(signal, 'abort');
        resolve();
        return { run: RUN, events: [], nextCursor: 0, hasMore: false };
      };
    });
    const impatient = client.call(
      'getRun',
      { session_id: 'S1', run_id: 'R1', after_seq: undefined, limit: undefined, wait_ms: 25_000 },
      { deadlineMs: 200 },
    );
    expect((await failureOf(impatient)).code).toBe(Status.DEADLINE_EXCEEDED);
    await left;
  });

  it('observes a run from the cursor to its end', async () => {
    let asked: unknown;
    runs.observe = async (_principal, query) => ((asked = query), aStream(fromStart(query.after)));
    const { events, end } = await readAll(client.stream('observe', { ...OBSERVE, after_seq: '10' }));
    expect(asked).toEqual({ sessionId: 'S1', runId: 'R1', after: 10, stopAtInput: false });
    expect(events.map(({ id }) => Number(id))).toEqual(EXAMPLE_EVENTS.slice(10).map(({ seq }) => seq));
    expect(end.code).toBe(Status.OK);
  });

  it('submits and observes the run of the message', async () => {
    const asked: unknown[] = [];
    runs.submit = async (_principal, command) => (asked.push(command.attached, command.onDisconnect), RECEIPT);
    runs.observe = async (_principal, query) => (asked.push(query), aStream());
    runs.disconnected = async () => void asked.push('disconnected');
    const { events, end } = await readAll(client.stream('submitAndObserve', SAY, { 'x-on-disconnect': 'cancel' }));
    expect([events.length, end.code]).toEqual([26, Status.OK]);
    expect(asked).toEqual([true, 'cancel', { sessionId: 'S1', runId: 'R1', after: 0, stopAtInput: true }]);
  });

  it('delivers a failed run as its last message, then OK', async () => {
    const failed = {
      ...EXAMPLE_EVENTS[25],
      type: 'run_failed',
      status: 'failed',
      code: 'AGENT_ERROR',
      stage: 'failed',
      error: { code: 'AGENT_ERROR', message: 'agent error', retryable: false, stage: 'reasoning' },
      artifacts: [],
      usage: NO_USAGE,
    } as unknown as LoggedEvent;
    runs.observe = async () =>
      aStream(async function* () {
        yield failed;
      });
    const { events, end } = await readAll(client.stream('observe', OBSERVE));
    expect([events.at(-1)?.type, events.at(-1)?.data?.error?.code, end.code]).toEqual([
      'run.failed',
      'AGENT_ERROR',
      Status.OK,
    ]);
  });

  it('tells the run that the caller of SubmitAndObserve has left, once', async () => {
    const left = new Promise<string[]>((resolve) => {
      const runIds: string[] = [];
      runs.disconnected = async (_principal, runId) => {
        runIds.push(runId);
        setTimeout(() => resolve(runIds), 100);
      };
    });
    runs.submit = async () => RECEIPT;
    runs.observe = async () => aStream(thenSilence);
    const stream = client.stream('submitAndObserve', SAY);
    stream.once('data', () => stream.cancel());
    expect((await readAll(stream)).end.code).toBe(Status.CANCELLED);
    expect(await left).toEqual(['R1']);
  });

  it('only detaches when the caller of Observe leaves', async () => {
    let hasDisconnected = false;
    runs.disconnected = async () => void (hasDisconnected = true);
    const closed = new Promise<void>((resolve) => {
      runs.observe = async () =>
        aStream(async function* (signal) {
          try {
            yield* thenSilence(signal);
          } finally {
            resolve();
          }
        });
    });
    const stream = client.stream('observe', OBSERVE);
    stream.once('data', () => stream.cancel());
    expect((await readAll(stream)).end.code).toBe(Status.CANCELLED);
    await closed;
    expect(hasDisconnected).toBe(false);
  });

  it('ends open streams with UNAVAILABLE when it stops', async () => {
    runs.submit = async () => RECEIPT;
    runs.observe = async () => aStream(thenSilence);
    let hasDisconnected = false;
    runs.disconnected = async () => void (hasDisconnected = true);
    const stream = client.stream('submitAndObserve', SAY);
    const reading = readAll(stream);
    await once(stream, 'data');
    await running.close();
    const { events, end } = await reading;
    expect([events.length, end]).toEqual([
      2,
      { code: Status.UNAVAILABLE, details: 'DRAINING: the server is stopping', bridleCode: 'DRAINING' },
    ]);
    expect(hasDisconnected).toBe(false);
  });

  it('gives every place of a stream back', async () => {
    runs.observe = async () => aStream();
    for (let round = 0; round < 3; round += 1) await readAll(client.stream('observe', OBSERVE));
    runs.observe = async () => {
      throw AppError.notFound('run', 'R1');
    };
    await readAll(client.stream('observe', OBSERVE));
    expect(running.app.get(OpenStreams).size).toBe(0);
  });
});
