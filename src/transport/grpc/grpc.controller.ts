import type { Metadata, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js';
import { Controller, UseFilters } from '@nestjs/common';
import { GrpcMethod } from '@nestjs/microservices';
import type { Observable } from 'rxjs';
import { principalOf } from '../../auth/grpc-principal.js';
import { AppError } from '../../common/app-error.js';
import { Config } from '../../config/config.js';
import { Logger } from '../../observability/logger.js';
import { traceIdFrom } from '../../observability/trace-id.js';
import { RunsService } from '../../runs/runs.service.js';
import { SessionsService } from '../../sessions/sessions.service.js';
import type { Action, Receipt } from './generated/harness/v1/action.js';
import type { RunEvent } from './generated/harness/v1/event.js';
import type { GetRunRequest, ObserveRequest, RunPage } from './generated/harness/v1/run.js';
import type {
  CreateSessionRequest,
  DeleteSessionRequest,
  GetSessionRequest,
  ListSessionsRequest,
  ListSessionsResponse,
  Operation,
  Session,
  SessionSnapshot,
} from './generated/harness/v1/session.js';
import { DeleteSessionDto, GetRunDto, GetSessionDto, ListSessionsDto, ObserveDto } from './grpc.dto.js';
import { GrpcErrorFilter } from './grpc.errors.js';
import { checked, toCommand, toCreateSession, toOnDisconnect } from './grpc.requests.js';
import { toProtoPage, toProtoReceipt, toProtoSession, toProtoSessionList, toProtoSnapshot } from './grpc.responses.js';
import { OpenStreams } from '../http/open-streams.js';
import { ACTION_ACCEPTED, receiptFacts } from '../run-payload/receipt-facts.js';
import { RunStreams } from './run-streams.js';
import { GRPC_SERVICE } from './service-definition.js';

const DEFAULT_RUNS = 20;
const DEFAULT_SESSIONS = 20;
const DEFAULT_EVENTS = 100;

/** `harness.v1.AgentHarness`: the run API over gRPC. Its contract is `proto/harness/v1/agent_harness.proto`. */
@Controller()
@UseFilters(GrpcErrorFilter)
export class GrpcController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly runs: RunsService,
    private readonly streams: RunStreams,
    private readonly openStreams: OpenStreams,
    private readonly config: Config,
    private readonly logger: Logger,
  ) {}

  @GrpcMethod(GRPC_SERVICE)
  async createSession(request: CreateSessionRequest, metadata: Metadata): Promise<Session> {
    const { session, replayed } = await this.sessions.create(principalOf(metadata), toCreateSession(request));
    this.logger.info('session created', { traceId: traceOf(metadata), sessionId: session.id, replayed });
    return toProtoSession(session);
  }

  @GrpcMethod(GRPC_SERVICE)
  async getSession(request: GetSessionRequest, metadata: Metadata): Promise<SessionSnapshot> {
    const { session_id, runs = DEFAULT_RUNS, before, events = true } = checked(GetSessionDto, request);
    return toProtoSnapshot(await this.runs.snapshot(principalOf(metadata), session_id, { runs, before, events }));
  }

  @GrpcMethod(GRPC_SERVICE)
  async listSessions(request: ListSessionsRequest, metadata: Metadata): Promise<ListSessionsResponse> {
    const { client_reference, page_token, limit = DEFAULT_SESSIONS } = checked(ListSessionsDto, request);
    const query = { clientReference: client_reference, pageToken: page_token, limit };
    return toProtoSessionList(await this.sessions.list(principalOf(metadata), query));
  }

  @GrpcMethod(GRPC_SERVICE)
  async deleteSession(request: DeleteSessionRequest, metadata: Metadata): Promise<Operation> {
    const { session_id } = checked(DeleteSessionDto, request);
    await this.runs.closeSession(principalOf(metadata), session_id);
    this.logger.info('session deleted', { traceId: traceOf(metadata), sessionId: session_id });
    return { id: session_id, status: 'closed' };
  }

  @GrpcMethod(GRPC_SERVICE)
  async submit(action: Action, metadata: Metadata): Promise<Receipt> {
    const principal = principalOf(metadata);
    const command = toCommand(action, { attached: false, onDisconnect: this.onDisconnect(metadata) });
    const receipt =
      command.kind === 'message'
        ? await this.runs.submit(principal, command.submit)
        : await this.runs.cancel(principal, command.cancel);
    this.logger.info(ACTION_ACCEPTED, { traceId: traceOf(metadata), ...receiptFacts(receipt) });
    return toProtoReceipt(receipt);
  }

  @GrpcMethod(GRPC_SERVICE)
  submitAndObserve(
    action: Action,
    metadata: Metadata,
    call: ServerWritableStream<Action, RunEvent>,
  ): Observable<never> {
    const command = toCommand(action, { attached: true, onDisconnect: this.onDisconnect(metadata) });
    if (command.kind !== 'message') throw new AppError('INVALID_BODY', 'SubmitAndObserve takes a message or a steer');
    return this.streams.submitAndObserve(call, principalOf(metadata), command.submit);
  }

  @GrpcMethod(GRPC_SERVICE)
  observe(
    request: ObserveRequest,
    metadata: Metadata,
    call: ServerWritableStream<ObserveRequest, RunEvent>,
  ): Observable<never> {
    const { session_id, run_id, after_seq = '0' } = checked(ObserveDto, request);
    const query = { sessionId: session_id, runId: run_id, after: Number(after_seq) };
    return this.streams.observe(call, principalOf(metadata), query);
  }

  @GrpcMethod(GRPC_SERVICE)
  async getRun(
    request: GetRunRequest,
    metadata: Metadata,
    call: ServerUnaryCall<GetRunRequest, RunPage>,
  ): Promise<RunPage> {
    const { session_id, run_id, after_seq = '0', limit = DEFAULT_EVENTS, wait_ms = 0 } = checked(GetRunDto, request);
    const query = { sessionId: session_id, runId: run_id, cursor: Number(after_seq), limit, waitMs: wait_ms };
    const gone = new AbortController();
    call.once('cancelled', () => gone.abort());
    const signal = AbortSignal.any([gone.signal, this.openStreams.stopping]);
    return toProtoPage(await this.runs.page(principalOf(metadata), query, signal));
  }

  @GrpcMethod(GRPC_SERVICE)
  decide(): never {
    throw new AppError('NOT_IMPLEMENTED', 'Decide is not available');
  }

  @GrpcMethod(GRPC_SERVICE)
  getRunAudit(): never {
    throw new AppError('NOT_IMPLEMENTED', 'GetRunAudit is not available');
  }

  private onDisconnect(metadata: Metadata): ReturnType<typeof toOnDisconnect> {
    return toOnDisconnect(metadata.get('x-on-disconnect')[0], this.config.onDisconnect.grpc);
  }
}

const traceOf = (metadata: Metadata): string => traceIdFrom(metadata.get('traceparent')[0]);
