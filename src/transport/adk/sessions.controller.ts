import { Controller, Delete, Get, Param, Patch, Post, Req, UseGuards, UseInterceptors } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Caller } from '../../auth/caller.decorator.js';
import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/app-error.js';
import { Clock } from '../../common/clock.js';
import { Ids } from '../../common/ids.js';
import type { JsonObject } from '../../common/json.js';
import { Logger } from '../../observability/logger.js';
import { RunsService } from '../../runs/runs.service.js';
import { SessionsService } from '../../sessions/sessions.service.js';
import type { SessionView } from '../../sessions/sessions.types.js';
import { AdkBodies } from './adk-bodies.js';
import { AdkOperation } from './adk.docs.js';
import { AdkJson } from './adk-json.interceptor.js';
import { toAppName, toLegacyState, toSessionId } from './adk.requests.js';
import { toImported, withoutShortForms } from './imported-events.js';
import { AdkOriginGuard } from './adk-origin.guard.js';
import { AdkSessionView } from './session-view.js';
import { CreateSessionRequest, UpdateSessionRequest, type EventDto } from './session.dto.js';
import { validateBody } from './validation/validate.js';

/** Sessions of evaluations are not listed. */
const HIDDEN = '___eval___session___';

/** Sessions of any app name; an app is only a name space here. */
@Controller('apps/:app/users/:user/sessions')
@UseGuards(AdkOriginGuard)
@UseInterceptors(AdkJson)
export class AdkSessionsController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly runs: RunsService,
    private readonly view: AdkSessionView,
    private readonly bodies: AdkBodies,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly logger: Logger,
  ) {}

  @Post()
  @AdkOperation('harnessRuntimeCreateSession', 'Create a session')
  async create(
    @Caller() principal: Principal,
    @Param('app') app: string,
    @Param('user') userId: string,
    @Req() request: FastifyRequest,
  ): Promise<JsonObject> {
    const dto = this.creation(request);
    const externalId = toSessionId(dto);
    const named = { appName: toAppName(app), userId, ...(externalId !== undefined && { externalId }) };
    const session = await this.made(principal, request, named, (dto.state ?? {}) as JsonObject);
    const events = this.imported(dto.events ?? []);
    if (events.length === 0) return this.view.whole(principal, session);
    await this.runs.importEvents(principal, session.id, { events });
    return this.shown(principal, app, userId, session.externalId);
  }

  /** The old form: the id in the path, the state as the body. */
  @Post(':session')
  @AdkOperation('harnessRuntimeCreateSessionWithId', 'Create a session under an id of the caller')
  async createNamed(
    @Caller() principal: Principal,
    @Param('app') app: string,
    @Param('user') userId: string,
    @Param('session') externalId: string,
    @Req() request: FastifyRequest,
  ): Promise<JsonObject> {
    const state = toLegacyState(this.bodies.map(request));
    const named = { appName: toAppName(app), userId, externalId: externalId.trim() };
    return this.view.whole(principal, await this.made(principal, request, named, state));
  }

  @Get()
  @AdkOperation('harnessRuntimeListSessions', 'The sessions of a user')
  async list(
    @Caller() principal: Principal,
    @Param('app') app: string,
    @Param('user') userId: string,
  ): Promise<JsonObject[]> {
    const sessions = await this.sessions.listNamed(principal, toAppName(app), userId);
    return sessions.filter(({ externalId }) => !externalId.startsWith(HIDDEN)).map((session) => this.view.row(session));
  }

  @Get(':session')
  @AdkOperation('harnessRuntimeGetSession', 'A session with its events')
  get(
    @Caller() principal: Principal,
    @Param('app') app: string,
    @Param('user') userId: string,
    @Param('session') externalId: string,
  ): Promise<JsonObject> {
    return this.shown(principal, app, userId, externalId);
  }

  @Patch(':session')
  @AdkOperation('harnessRuntimeUpdateSession', 'Change the state of a session')
  async update(
    @Caller() principal: Principal,
    @Param('app') app: string,
    @Param('user') userId: string,
    @Param('session') externalId: string,
    @Req() request: FastifyRequest,
  ): Promise<JsonObject> {
    const { stateDelta } = this.bodies.model(request, UpdateSessionRequest);
    const session = await this.find(principal, app, userId, externalId);
    await this.runs.importEvents(principal, session.id, { events: [], stateDelta: stateDelta as JsonObject });
    return this.shown(principal, app, userId, externalId);
  }

  /** `null`, also for an id that is not there. */
  @Delete(':session')
  @AdkOperation('harnessRuntimeDeleteSession', 'Delete a session')
  async remove(
    @Caller() principal: Principal,
    @Param('app') app: string,
    @Param('user') userId: string,
    @Param('session') externalId: string,
    @Req() request: FastifyRequest,
  ): Promise<null> {
    try {
      const session = await this.find(principal, app, userId, externalId);
      await this.runs.closeSession(principal, session.id);
      this.logger.info('session deleted', { traceId: request.id, sessionId: session.id });
    } catch (error) {
      if (!(error instanceof AppError) || !GONE.has(error.reason)) throw error;
    }
    return null;
  }

  private async made(
    principal: Principal,
    request: FastifyRequest,
    named: { readonly appName: string; readonly userId: string; readonly externalId?: string },
    state: JsonObject,
  ): Promise<SessionView> {
    const session = await this.sessions.createNamed(principal, named, state);
    this.logger.info('session created', { traceId: request.id, sessionId: session.id });
    return session;
  }

  private creation(request: FastifyRequest): CreateSessionRequest {
    const body = withoutShortForms(this.bodies.read(request));
    return body.kind === 'missing' ? new CreateSessionRequest() : validateBody(CreateSessionRequest, body);
  }

  /** Events as they are kept; partial ones are not. */
  private imported(events: readonly EventDto[]): JsonObject[] {
    const timestamp = this.clock.nowMs() / 1000;
    return events
      .filter((event) => event.partial !== true)
      .map((event) => toImported(event, { id: this.ids.next(), timestamp }));
  }

  private find(principal: Principal, app: string, userId: string, externalId: string): Promise<SessionView> {
    return this.sessions.findNamed(principal, { appName: toAppName(app), userId, externalId: externalId.trim() });
  }

  private async shown(principal: Principal, app: string, userId: string, externalId: string): Promise<JsonObject> {
    return this.view.whole(principal, await this.find(principal, app, userId, externalId));
  }
}

const GONE: ReadonlySet<string> = new Set(['SESSION_NOT_FOUND', 'SESSION_CLOSED']);
