import { Controller, HttpCode, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Caller } from '../../auth/caller.decorator.js';
import type { Principal } from '../../auth/principal.js';
import { assertNever } from '../../common/assert-never.js';
import type { JsonObject } from '../../common/json.js';
import { Config } from '../../config/config.js';
import { Logger } from '../../observability/logger.js';
import type { Receipt } from '../../runs/runs.types.js';
import { RunsService } from '../../runs/runs.service.js';
import { OpenStreams } from '../http/open-streams.js';
import { ACTION_ACCEPTED, receiptFacts } from '../run-payload/receipt-facts.js';
import { toReceipt } from '../run-payload/run-view.js';
import type { MessageActionDto, ObserveActionDto } from './actions.dto.js';
import { onDisconnectFrom, toActionDto, toCancelRun, toSubmitMessage } from './actions.requests.js';
import { encodingFrom, laterCursor, pageFrom, type Query as QueryValues } from './query.requests.js';
import { whileConnected } from './request-signal.js';
import { RestBodies } from './rest-bodies.js';
import { ActionDocs } from './rest.docs.js';
import { toPage } from './rest.views.js';
import { RunStreams } from './run-streams.js';

/** One HTTP exchange and who is at its other end. */
interface Call {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly principal: Principal;
  readonly query: QueryValues;
}

/** The one endpoint of all actions on a session. */
@Controller('v1/actions')
export class ActionsController {
  constructor(
    private readonly runs: RunsService,
    private readonly bodies: RestBodies,
    private readonly streams: RunStreams,
    private readonly openStreams: OpenStreams,
    private readonly config: Config,
    private readonly logger: Logger,
  ) {}

  @Post()
  @HttpCode(200)
  @ActionDocs()
  async act(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Caller() principal: Principal,
    @Query() query: QueryValues,
  ): Promise<JsonObject | void> {
    const call: Call = { request, reply, principal, query };
    const dto = toActionDto(this.bodies.read(request));
    switch (dto.action) {
      case 'message':
        return wantsStream(request) ? this.streamMessage(call, dto) : this.sendMessage(call, dto);
      case 'cancel':
        return this.answer(call, await this.runs.cancel(principal, toCancelRun(dto)));
      case 'observe':
        return wantsStream(request) ? this.streamRun(call, dto) : this.pollRun(call, dto);
      default:
        return assertNever(dto);
    }
  }

  private async sendMessage(call: Call, dto: MessageActionDto): Promise<JsonObject> {
    return this.answer(call, await this.runs.submit(call.principal, this.toCommand(call, dto, false)));
  }

  /** All that can be refused is refused before the first byte, and before a run exists. */
  private async streamMessage(call: Call, dto: MessageActionDto): Promise<void> {
    const { request, reply, principal } = call;
    const encoding = encodingFrom(call.query, 'flat');
    const after = laterCursor(0, request.headers['last-event-id']);
    const command = this.toCommand(call, dto, true);
    const place = this.openStreams.reserve(principal);
    try {
      const receipt = await this.runs.submit(principal, command);
      this.note(call, receipt);
      const runId = receipt.runId ?? '';
      const stream = await this.runs.observe(principal, { sessionId: dto.session_id, runId, after, stopAtInput: true });
      const headers = receipt.disposition === 'replayed' ? REPLAYED : {};
      const hasLeft = await this.streams.write(reply, stream, { encoding, place, headers });
      if (hasLeft) await this.runs.disconnected(principal, runId);
    } finally {
      place.release();
    }
  }

  private async pollRun(call: Call, dto: ObserveActionDto): Promise<JsonObject> {
    const asked = { sessionId: dto.session_id, runId: dto.run_id, ...pageFrom({}), cursor: dto.cursor ?? 0 };
    const signal = whileConnected(call.reply, this.openStreams.stopping);
    return toPage(await this.runs.page(call.principal, asked, signal));
  }

  private async streamRun(call: Call, dto: ObserveActionDto): Promise<void> {
    const encoding = encodingFrom(call.query, 'flat');
    const after = laterCursor(dto.cursor ?? 0, call.request.headers['last-event-id']);
    const place = this.openStreams.reserve(call.principal);
    try {
      const asked = { sessionId: dto.session_id, runId: dto.run_id, after, stopAtInput: true };
      await this.streams.write(call.reply, await this.runs.observe(call.principal, asked), { encoding, place });
    } finally {
      place.release();
    }
  }

  /** The JSON answer of an action: 202 when something goes on, 200 when there was nothing to do. */
  private answer(call: Call, receipt: Receipt): JsonObject {
    this.note(call, receipt);
    const isNoop = receipt.action === 'cancel' && (receipt.disposition === 'noop' || receipt.runId === null);
    void call.reply.code(isNoop ? 200 : 202);
    if (receipt.disposition === 'replayed') void call.reply.headers(REPLAYED);
    return toReceipt(receipt);
  }

  private note({ request }: Call, receipt: Receipt): void {
    this.logger.info(ACTION_ACCEPTED, { traceId: request.id, ...receiptFacts(receipt) });
  }

  private toCommand({ request }: Call, dto: MessageActionDto, attached: boolean) {
    return toSubmitMessage(dto, {
      attached,
      onDisconnect: onDisconnectFrom(request.headers['x-on-disconnect']) ?? this.config.onDisconnect.v1,
    });
  }
}

const REPLAYED = { 'Idempotent-Replayed': 'true' } as const;

/** True when the caller asked for server-sent events. */
function wantsStream(request: FastifyRequest): boolean {
  return (request.headers.accept ?? '')
    .split(',')
    .some((range) => range.split(';', 1)[0]?.trim().toLowerCase() === 'text/event-stream');
}
