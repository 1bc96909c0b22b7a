import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Caller } from '../../auth/caller.decorator.js';
import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/app-error.js';
import type { JsonObject } from '../../common/json.js';
import { RunsService } from '../../runs/runs.service.js';
import { OpenStreams } from '../http/open-streams.js';
import { PathIds } from './path-ids.pipe.js';
import { cursorFrom, encodingFrom, laterCursor, pageFrom, type Query as QueryValues } from './query.requests.js';
import { whileConnected } from './request-signal.js';
import { GetRunDocs, StreamRunDocs } from './rest.docs.js';
import { toPage } from './rest.views.js';
import { RunStreams } from './run-streams.js';

/** Runs: polled page by page, or followed as a stream. */
@Controller('v1/sessions/:sid/runs/:rid')
export class RunsController {
  constructor(
    private readonly runs: RunsService,
    private readonly streams: RunStreams,
    private readonly openStreams: OpenStreams,
  ) {}

  @Get()
  @GetRunDocs()
  async page(
    @Caller() principal: Principal,
    @Param(PathIds) { sid, rid }: { sid: string; rid: string },
    @Query() query: QueryValues,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonObject> {
    const asked = { sessionId: sid, runId: rid, ...pageFrom(query) };
    return toPage(await this.runs.page(principal, asked, whileConnected(reply, this.openStreams.stopping)));
  }

  @Get('events')
  @StreamRunDocs()
  async events(
    @Caller() principal: Principal,
    @Param(PathIds) { sid, rid }: { sid: string; rid: string },
    @Query() query: QueryValues,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    if ('ticket' in query) throw new AppError('NOT_IMPLEMENTED', 'ticket is not implemented in this version');
    const encoding = encodingFrom(query, 'envelope');
    const after = laterCursor(cursorFrom(query), request.headers['last-event-id']);
    const place = this.openStreams.reserve(principal);
    try {
      const stream = await this.runs.observe(principal, { sessionId: sid, runId: rid, after, stopAtInput: false });
      // 204 is what stops a browser from asking again.
      if (stream.isOver) void reply.code(204);
      else await this.streams.write(reply, stream, { encoding, place, announcesRetry: true });
    } finally {
      place.release();
    }
  }
}
