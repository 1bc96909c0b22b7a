import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/app-error.js';
import { Clock } from '../../common/clock.js';
import { Ids } from '../../common/ids.js';
import { Config } from '../../config/config.js';
import { isDuplicateKey } from '../../database/database-errors.js';
import { Database } from '../../database/database.js';
import { isPicture, textOf, type ImagePart, type ImageUrlPart, type Part, type UserInput } from '../../events/parts.js';
import type { LoggedEvent } from '../../events/projection.js';
import { firstOutcome, keepOutcome, type RequestKey } from '../../sessions/request-ledger.js';
import { applyDelta } from '../../sessions/session-rows.js';
import { withoutTemp } from '../../sessions/state.js';
import type { Session } from '../../sessions/sessions.types.js';
import { AnswersService } from '../../vision/answers.service.js';
import { PicturesService, type PreparedPicture } from '../../vision/pictures.service.js';
import { lifecycleEvent } from '../log/lifecycle-events.js';
import { writeLifecycle } from '../log/run-rows.js';
import { RunDispatcher } from '../ports/run-dispatcher.port.js';
import { RunHints } from '../ports/run-hints.port.js';
import { RunClaims, type Claim } from '../queue/run-claims.js';
import { RunWorker } from '../queue/run-worker.js';
import type { MessageBody } from '../reading/message-body.js';
import type { Run } from '../run.js';
import type { Receipt, SubmitMessage } from '../runs.types.js';
import { insertInput, insertRun, nextOrd, openSession, readOpenSession, waitingRuns } from './command-rows.js';
import { checkCapabilities, checkMessage, checkSourceTypes, messageHash, resourcesOf } from './message-rules.js';
import { languageOf } from './language.js';

interface Submitted {
  readonly receipt: Receipt;
  readonly events: readonly LoggedEvent[];
  readonly claim: Claim | undefined;
}

/** Turns a message into a durable run: one transaction inserts the input, the run and its receipt. */
@Injectable()
export class SubmitMessageCommand {
  constructor(
    private readonly database: Database,
    private readonly pictures: PicturesService,
    private readonly answers: AnswersService,
    private readonly claims: RunClaims,
    private readonly worker: RunWorker,
    private readonly hints: RunHints,
    private readonly dispatcher: RunDispatcher,
    private readonly config: Config,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  async submit(principal: Principal, command: SubmitMessage): Promise<Receipt> {
    if (this.worker.isDraining) throw new AppError('DRAINING', 'the server is stopping', { retryAfterMs: 1000 });
    checkMessage(command);
    if (command.responseSchema !== undefined) this.answers.checkSchema(command.responseSchema);
    const key = keyOf(principal, command);
    const hash = messageHash(command);
    // pictures cost work: a repeated request is answered before; any other is found in its transaction
    if (key !== undefined && resourcesOf(command).length > 0) {
      const replay = await firstOutcome<Receipt>((sql, values) => this.database.query(sql, values), key, hash);
      if (replay !== undefined) return { ...replay, disposition: 'replayed' };
    }
    const prepared = await this.prepare(principal, command);
    const slot = command.attached ? this.worker.reserve() : undefined;
    try {
      const submitted = await this.database.inTransaction((manager) =>
        this.write(manager, principal, command, prepared, key, hash, slot !== undefined),
      );
      if ('replayed' in submitted) {
        slot?.cancel();
        return submitted.replayed;
      }
      this.publish(submitted);
      if (submitted.claim === undefined) slot?.cancel();
      else slot?.start(submitted.claim.lease);
      return submitted.receipt;
    } catch (error) {
      slot?.cancel();
      if (key === undefined || !isDuplicateKey(error)) throw error;
      const first = await firstOutcome<Receipt>((sql, values) => this.database.query(sql, values), key, hash);
      if (first === undefined) throw error;
      return { ...first, disposition: 'replayed' };
    }
  }

  /** Pictures cost work: who may not send them here is told so before. */
  private async prepare(principal: Principal, command: SubmitMessage): Promise<readonly PreparedPicture[]> {
    const resources = resourcesOf(command);
    if (resources.length === 0) return [];
    const session = await readOpenSession(this.database, principal.tenantId, command.sessionId);
    checkCapabilities(session, command);
    const known = resources.flatMap((resource) => (resource.kind === 'stored' ? [resource.resourceId] : []));
    checkSourceTypes(resources, await this.pictures.resourcesOf(session, known));
    return this.pictures.prepare(resources);
  }

  private async write(
    manager: EntityManager,
    principal: Principal,
    command: SubmitMessage,
    prepared: readonly PreparedPicture[],
    key: RequestKey | undefined,
    hash: string,
    hasSlot: boolean,
  ): Promise<Submitted | { readonly replayed: Receipt }> {
    const session = await openSession(this.database, manager, principal.tenantId, command.sessionId);
    const first = key && (await firstOutcome<Receipt>((sql, values) => manager.query(sql, values), key, hash));
    if (first !== undefined) return { replayed: { ...first, disposition: 'replayed' } };
    const ahead = await waitingRuns(manager, session.id);
    const startsAtOnce = hasSlot && ahead.length === 0;
    this.checkSession(session, command, ahead);
    if (!startsAtOnce) await this.checkTenant(manager, session.tenantId);
    const attached = await this.pictures.attach(manager, session, prepared);
    const input = inputOf(command, attached);
    const run = await this.insert(manager, session, command, input, ahead.length === 0);
    await insertInput(manager, run, this.clock.nowMs(), principal.subject, {
      kind: 'message',
      requestId: command.requestId ?? null,
      body: messageBody(command, input, ahead.length),
      appliedSeq: 1,
    });
    if (command.stateDelta !== undefined) {
      await applyDelta(this.database, manager, session, command.stateDelta, this.clock.nowMs());
    }
    const queued = lifecycleEvent(run, this.clock, 'run_queued', {
      input,
      ...(command.stateDelta === undefined ? {} : { stateDelta: withoutTemp(command.stateDelta) }),
      queuePosition: ahead.length,
    });
    const receipt = receiptOf(run, command, ahead.length);
    if (key !== undefined) {
      await keepOutcome(manager, key, hash, { runId: run.id, status: 202, response: receipt, at: run.createdAt });
    }
    if (!startsAtOnce) return { receipt, events: await writeLifecycle(manager, run, [queued]), claim: undefined };
    const claim = await this.claims.claim(manager, run, attached.length > 0, [queued]);
    return { receipt, events: [], claim };
  }

  private async insert(
    manager: EntityManager,
    session: Session,
    command: SubmitMessage,
    input: UserInput | null,
    isFirst: boolean,
  ): Promise<Run> {
    return insertRun(manager, session, {
      id: this.ids.next(),
      ord: await nextOrd(manager, session.id),
      kind: 'message',
      invocationId: command.invocationId ?? `e-${this.ids.next()}`,
      language: await languageOf(manager, session.id, input),
      mode: command.door === 'adk' ? null : (command.mode ?? 'queue'),
      onDisconnect: command.onDisconnect ?? this.config.onDisconnect[command.door === 'solon' ? 'v1' : command.door],
      capabilities: command.capabilities === undefined ? session.capabilities : [...command.capabilities].sort(),
      queueState: isFirst ? 'ready' : 'blocked',
      availableAt: await this.database.nowMs(manager),
      createdAt: this.clock.nowMs(),
    });
  }

  private checkSession(session: Session, command: SubmitMessage, ahead: readonly Pick<Run, 'id' | 'status'>[]): void {
    checkCapabilities(session, command);
    const blocking = ahead[0];
    if (command.mode === 'reject' && blocking !== undefined) {
      throw new AppError('SESSION_BUSY', `session ${session.id} has an active run ${blocking.id}; use mode queue`, {
        details: { active_run_id: blocking.id },
      });
    }
    const queued = ahead.filter((run) => run.status === 'queued').length;
    if (queued >= this.config.runs.maxQueuedPerSession) {
      throw new AppError('QUEUE_FULL', `session ${session.id} has ${queued} runs waiting`, {
        retryAfterMs: 1000,
      });
    }
  }

  /** Only a run that waits takes a place in the queue. */
  private async checkTenant(manager: EntityManager, tenantId: string): Promise<void> {
    const rows = await manager.query<{ n: number }[]>(
      "SELECT COUNT(*) AS n FROM runs WHERE tenant_id = ? AND queue_state IN ('ready', 'blocked')",
      [tenantId],
    );
    const waiting = Number(rows[0]?.n ?? 0);
    if (waiting >= this.config.runs.maxQueuedPerTenant) {
      throw new AppError('QUEUE_FULL', `${waiting} runs are waiting`, { retryAfterMs: 1000 });
    }
  }

  private publish({ receipt, events, claim }: Submitted): void {
    if (receipt.runId === null) return;
    if (claim !== undefined) return this.claims.publish(claim);
    this.hints.committed(receipt.runId, events);
    if (receipt.disposition === 'started') this.dispatcher.announce();
  }
}

function keyOf(principal: Principal, command: SubmitMessage): RequestKey | undefined {
  if (command.requestId === undefined) return undefined;
  return { tenantId: principal.tenantId, sessionId: command.sessionId, requestId: command.requestId };
}

/** Puts the stored pictures in the places where the caller had them. */
function inputOf(command: SubmitMessage, attached: readonly (ImagePart | ImageUrlPart)[]): UserInput | null {
  if (command.parts === undefined) return null;
  let next = 0;
  const parts = command.parts.map((part): Part => {
    if (part.kind === 'text') return part;
    if (part.kind === 'wire') return { kind: 'wire', dialect: 'adk', value: part.value };
    const picture = attached[next++];
    if (picture === undefined) throw new Error('a picture of the message was not attached');
    return part.displayName === undefined ? picture : { ...picture, displayName: part.displayName };
  });
  return {
    ...(command.requestId === undefined ? {} : { requestId: command.requestId }),
    ...(command.role === undefined ? {} : { role: command.role }),
    parts,
  };
}

function messageBody(command: SubmitMessage, input: UserInput | null, ahead: number): MessageBody {
  const parts = input?.parts ?? [];
  return {
    text: textOf(parts),
    resources: parts.filter(isPicture).map(({ index, resourceId }) => ({ index, resourceId })),
    disposition: ahead === 0 ? 'started' : 'queued',
    ...(command.timeZone === undefined ? {} : { timeZone: command.timeZone }),
    ...(command.responseSchema === undefined ? {} : { responseSchema: command.responseSchema }),
  };
}

function receiptOf(run: Run, command: SubmitMessage, ahead: number): Receipt {
  return {
    accepted: true,
    sessionId: run.sessionId,
    runId: run.id,
    requestId: command.requestId ?? null,
    action: 'message',
    mode: run.mode,
    disposition: ahead === 0 ? 'started' : 'queued',
    status: 'queued',
    code: 'RUN_QUEUED',
    stage: 'queued',
    queuePosition: ahead,
    cursor: 1,
  };
}
