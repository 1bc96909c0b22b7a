import { Controller, Delete, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Caller } from '../../auth/caller.decorator.js';
import type { Principal } from '../../auth/principal.js';
import type { JsonObject } from '../../common/json.js';
import { Logger } from '../../observability/logger.js';
import { RunsService } from '../../runs/runs.service.js';
import { SessionsService } from '../../sessions/sessions.service.js';
import { toSession } from '../run-payload/run-view.js';
import { PathIds } from './path-ids.pipe.js';
import { sessionListFrom, snapshotFrom, type Query as QueryValues } from './query.requests.js';
import { RestBodies } from './rest-bodies.js';
import { CreateSessionDocs, DeleteSessionDocs, GetSessionDocs, ListSessionsDocs } from './rest.docs.js';
import { toSessionList, toSnapshot } from './rest.views.js';
import { CreateSessionDto } from './sessions.dto.js';
import { toCreateSession } from './sessions.requests.js';

/** Conversations: made, listed, read, deleted. */
@Controller('v1/sessions')
export class SessionsController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly runs: RunsService,
    private readonly bodies: RestBodies,
    private readonly logger: Logger,
  ) {}

  @Post()
  @HttpCode(201)
  @CreateSessionDocs()
  async create(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Caller() principal: Principal,
  ): Promise<JsonObject> {
    // Every field is optional, and so is the body.
    const dto = request.body === undefined ? new CreateSessionDto() : this.bodies.readAs(request, CreateSessionDto);
    const { session, replayed } = await this.sessions.create(principal, toCreateSession(dto));
    this.logger.info('session created', { traceId: request.id, sessionId: session.id, replayed });
    if (replayed) reply.header('Idempotent-Replayed', 'true');
    return toSession(session);
  }

  @Get()
  @ListSessionsDocs()
  async list(@Caller() principal: Principal, @Query() query: QueryValues): Promise<JsonObject> {
    return toSessionList(await this.sessions.list(principal, sessionListFrom(query)));
  }

  @Get(':sid')
  @GetSessionDocs()
  async get(
    @Caller() principal: Principal,
    @Param(PathIds) { sid }: { sid: string },
    @Query() query: QueryValues,
  ): Promise<JsonObject> {
    return toSnapshot(await this.runs.snapshot(principal, sid, snapshotFrom(query)));
  }

  @Delete(':sid')
  @HttpCode(202)
  @DeleteSessionDocs()
  async delete(
    @Req() request: FastifyRequest,
    @Caller() principal: Principal,
    @Param(PathIds) { sid }: { sid: string },
  ): Promise<JsonObject> {
    await this.runs.closeSession(principal, sid);
    this.logger.info('session deleted', { traceId: request.id, sessionId: sid });
    return { id: sid, status: 'closed' };
  }
}
