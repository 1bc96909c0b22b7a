import { Controller, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Caller } from '../../auth/caller.decorator.js';
import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/app-error.js';
import type { JsonObject } from '../../common/json.js';
import { Config } from '../../config/config.js';
import { HarnessService } from '../../harness/harness.service.js';
import { Logger } from '../../observability/logger.js';
import { RunsService } from '../../runs/runs.service.js';
import type { Receipt, SubmitMessage } from '../../runs/runs.types.js';
import { SessionsService } from '../../sessions/sessions.service.js';
import type { SessionView } from '../../sessions/sessions.types.js';
import { OpenStreams, type StreamPlace } from '../http/open-streams.js';
import { AdkBodies } from './adk-bodies.js';
import {
  orphanResponse,
  refuseOverrides,
  toAppName,
  toMessage,
  toOnDisconnect,
  toPictureRefusal,
  type AdkMessage,
} from './adk.requests.js';
import { AdkOriginGuard } from './adk-origin.guard.js';
import { RunSseRequest } from './run-sse.dto.js';
import { AdkRunStream } from './run-stream.js';

/** Runs an agent and streams what it does. */
@Controller('run_sse')
@UseGuards(AdkOriginGuard)
export class AdkRunSseController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly runs: RunsService,
    private readonly harness: HarnessService,
    private readonly bodies: AdkBodies,
    private readonly streams: AdkRunStream,
    private readonly openStreams: OpenStreams,
    private readonly config: Config,
    private readonly logger: Logger,
  ) {}

  /** All that can be refused with a status is refused before the first byte. */
  @Post()
  async run(@Caller() principal: Principal, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const dto = this.bodies.model(request, RunSseRequest);
    const message = toMessage(dto);
    refuseOverrides(dto.harness);
    const session = await this.sessionOf(principal, dto);
    const place = this.openStreams.reserve(principal);
    try {
      const refusal = this.unknownAgent(session.appName) ?? orphanResponse(dto);
      if (refusal !== undefined) return await this.streams.refuse(reply, refusal, place);
      const onDisconnect = toOnDisconnect(request.headers['x-on-disconnect']) ?? this.config.onDisconnect.adk;
      const command = { ...toCommand(session.id, dto, message), onDisconnect };
      await this.stream(principal, reply, command, message, dto.streaming ?? false, place);
    } finally {
      place.release();
    }
  }

  private async stream(
    principal: Principal,
    reply: FastifyReply,
    command: SubmitMessage,
    message: AdkMessage | undefined,
    streaming: boolean,
    place: StreamPlace,
  ): Promise<void> {
    const { sessionId } = command;
    const { action, runId, disposition } = await this.submit(principal, command, message);
    this.logger.info('action accepted', { traceId: reply.request.id, action, sessionId, runId, disposition });
    if (runId === null) throw new Error('a message without a run');
    const run = await this.runs.observe(principal, { sessionId, runId, after: 0, stopAtInput: true });
    const hasLeft = await this.streams.write(reply, run, streaming, place);
    if (hasLeft) await this.runs.disconnected(principal, runId);
  }

  private async submit(
    principal: Principal,
    command: SubmitMessage,
    message: AdkMessage | undefined,
  ): Promise<Receipt> {
    try {
      return await this.runs.submit(principal, command);
    } catch (error) {
      throw message === undefined ? error : toPictureRefusal(error, message);
    }
  }

  /** @throws AppError `SESSION_NOT_FOUND`, also when no app is named */
  private sessionOf(principal: Principal, { appName, userId, sessionId }: RunSseRequest): Promise<SessionView> {
    if (appName === null) throw AppError.notFound('session', sessionId);
    return this.sessions.findNamed(principal, {
      appName: toAppName(appName),
      userId,
      externalId: sessionId.trim(),
    });
  }

  /** A session may belong to any app name, but only agents run. */
  private unknownAgent(appName: string): string | undefined {
    const names = this.harness.agentsFor('adk').map(({ agent }) => agent.name);
    if (names.includes(appName)) return undefined;
    return `Unknown agent '${appName}'. Expected ${names.map((name) => `'${name}'`).join(' or ')}.`;
  }
}

function toCommand(sessionId: string, dto: RunSseRequest, message: AdkMessage | undefined): SubmitMessage {
  const { stateDelta, invocationId } = dto;
  return {
    door: 'adk',
    sessionId,
    attached: true,
    ...(message !== undefined && { parts: message.parts }),
    ...(message?.role !== undefined && { role: message.role }),
    ...(stateDelta && { stateDelta: stateDelta as JsonObject }),
    ...(invocationId && { invocationId }),
  };
}
