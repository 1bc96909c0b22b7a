import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../auth/principal.js';
import { AppError } from '../common/app-error.js';
import { canonicalHash } from '../common/canonical-hash.js';
import { Clock } from '../common/clock.js';
import { checkId } from '../common/id-rules.js';
import { Ids } from '../common/ids.js';
import type { JsonObject } from '../common/json.js';
import { checkTimeZone } from '../common/time-zone.js';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import { isDuplicateKey } from '../database/database-errors.js';
import { AgentDirectory } from '../harness/ports/agent-directory.port.js';
import { firstOutcome, keepOutcome, type RequestKey } from './request-ledger.js';
import { SessionReader } from './session-reader.js';
import { applyDelta, insertSession } from './session-rows.js';
import type { CreateSession, NamedSession, Session, SessionList, SessionView } from './sessions.types.js';

/** Sessions: the conversations that runs belong to. */
@Injectable()
export class SessionsService {
  constructor(
    private readonly database: Database,
    private readonly reader: SessionReader,
    private readonly agents: AgentDirectory,
    private readonly config: Config,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /**
   * Creates a session of `/v1` and gRPC.
   * @returns the session; `replayed` when this request id was seen before
   * @throws AppError `AGENT_NOT_FOUND`, `ID_INVALID`, `TIME_ZONE_INVALID`, `CAPABILITY_NOT_ENABLED`, `REQUEST_ID_CONFLICT`
   */
  async create(principal: Principal, command: CreateSession): Promise<{ session: SessionView; replayed: boolean }> {
    const session = this.newSession(principal, command);
    const { requestId, ...body } = command;
    const key: RequestKey | undefined =
      requestId === undefined ? undefined : { tenantId: principal.tenantId, sessionId: '-', requestId };
    const hash = canonicalHash(body);
    const first = await this.insertOnce(session, command.state ?? {}, key, hash);
    return { session: await this.reader.get(principal, first ?? session.id), replayed: first !== undefined };
  }

  /** @throws AppError `SESSION_NOT_FOUND`, `SESSION_CLOSED` */
  get(principal: Principal, sessionId: string): Promise<SessionView> {
    return this.reader.get(principal, sessionId);
  }

  /** Newest first. @throws AppError `CURSOR_INVALID` */
  list(
    principal: Principal,
    query: { readonly clientReference?: string; readonly pageToken?: string; readonly limit: number },
  ): Promise<SessionList> {
    return this.reader.list(principal, query);
  }

  /**
   * Creates a session of the ADK wire: any app name, an id of the caller's or a random one.
   * @throws AppError `SESSION_EXISTS`, `ID_INVALID`
   */
  async createNamed(
    principal: Principal,
    named: { readonly appName: string; readonly userId: string; readonly externalId?: string },
    state: JsonObject = {},
  ): Promise<SessionView> {
    const externalId = named.externalId ?? this.ids.next();
    checkId('app', 'app name', named.appName);
    checkId('user', 'user id', named.userId);
    checkId('session', 'session id', externalId);
    const session = this.row(principal, { appName: named.appName, userId: named.userId, externalId });
    try {
      await this.database.inTransaction((manager) => this.insert(manager, session, state));
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      throw new AppError('SESSION_EXISTS', `Session already exists: ${externalId}`, { cause: error });
    }
    return this.reader.get(principal, session.id);
  }

  /** @throws AppError `SESSION_NOT_FOUND` */
  findNamed(principal: Principal, named: NamedSession): Promise<SessionView> {
    return this.reader.findNamed(principal, named);
  }

  /** In order of creation. */
  listNamed(principal: Principal, appName: string, userId: string): Promise<readonly SessionView[]> {
    return this.reader.listNamed(principal, appName, userId);
  }

  private newSession(principal: Principal, command: CreateSession): Session {
    const agent = this.agents.find(command.agent ?? this.config.runs.defaultAgent);
    const capabilities = command.capabilities ?? agent.capabilities;
    const missing = capabilities.find((capability) => !agent.capabilities.includes(capability));
    if (missing !== undefined) {
      throw new AppError('CAPABILITY_NOT_ENABLED', `agent ${agent.name} does not have the capability ${missing}`);
    }
    if (command.userId !== undefined) checkId('user', 'user_id', command.userId);
    if (command.clientReference !== undefined) checkId('reference', 'client_reference', command.clientReference);
    if (command.requestId !== undefined) checkId('request', 'request_id', command.requestId);
    if (command.timeZone !== undefined) checkTimeZone(command.timeZone);
    return {
      ...this.row(principal, {
        appName: agent.name,
        userId: command.userId ?? principal.subject,
        externalId: undefined,
      }),
      capabilities: [...new Set(capabilities)].sort(),
      clientReference: command.clientReference ?? null,
      timeZone: command.timeZone ?? null,
    };
  }

  private row(
    principal: Principal,
    names: { readonly appName: string; readonly userId: string; readonly externalId: string | undefined },
  ): Session {
    const id = this.ids.next();
    const now = this.clock.nowMs();
    return {
      id,
      tenantId: principal.tenantId,
      appName: names.appName,
      userId: names.userId,
      externalId: names.externalId ?? id,
      state: {},
      version: 1,
      capabilities: [],
      clientReference: null,
      timeZone: null,
      createdAt: now,
      updatedAt: now,
    };
  }

  /** @returns the id of the session that an earlier request with this id made, if there was one */
  private async insertOnce(
    session: Session,
    state: JsonObject,
    key: RequestKey | undefined,
    hash: string,
  ): Promise<string | undefined> {
    try {
      return await this.database.inTransaction(async (manager) => {
        const first =
          key && (await firstOutcome<{ id: string }>((sql, values) => manager.query(sql, values), key, hash));
        if (first !== undefined) return first.id;
        await this.insert(manager, session, state);
        const outcome = { runId: null, status: 201, response: { id: session.id }, at: session.createdAt };
        if (key !== undefined) await keepOutcome(manager, key, hash, outcome);
        return undefined;
      });
    } catch (error) {
      // two first requests at once: the loser finds the winner's outcome
      if (key === undefined || !isDuplicateKey(error)) throw error;
      const first = await firstOutcome<{ id: string }>((sql, values) => this.database.query(sql, values), key, hash);
      return first?.id;
    }
  }

  private async insert(manager: EntityManager, session: Session, state: JsonObject): Promise<void> {
    await insertSession(manager, session);
    if (Object.keys(state).length > 0) {
      await applyDelta(this.database, manager, session, state, session.createdAt);
    }
  }
}
