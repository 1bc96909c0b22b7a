import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/app-error.js';
import { canonicalHash } from '../../common/canonical-hash.js';
import { Clock } from '../../common/clock.js';
import { checkId } from '../../common/id-rules.js';
import { Database } from '../../database/database.js';
import { closingEvents } from '../../events/open-work.js';
import type { LoggedEvent } from '../../events/projection.js';
import { firstOutcome, keepOutcome, type RequestKey } from '../../sessions/request-ledger.js';
import { lifecycleEvent } from '../log/lifecycle-events.js';
import { readOpenWork } from '../log/open-work.js';
import { lockRun, lockRunAndSession, writeLifecycle } from '../log/run-rows.js';
import { RunDispatcher } from '../ports/run-dispatcher.port.js';
import { RunHints } from '../ports/run-hints.port.js';
import type { Run } from '../run.js';
import type { CancelRun, Receipt } from '../runs.types.js';
import { insertInput, openSession, waitingRuns } from './command-rows.js';

/** What a cancel wrote into the log of a run; nothing when that had ended before. */
interface Stopped {
  readonly runId: string;
  readonly events: readonly LoggedEvent[];
}

interface Cancelled extends Stopped {
  readonly disposition: 'cancelling' | 'cancelled' | 'noop';
}

/** Stops a run: at once when nobody works on it, else by a durable signal to its executor. */
@Injectable()
export class CancelRunCommand {
  constructor(
    private readonly database: Database,
    private readonly hints: RunHints,
    private readonly dispatcher: RunDispatcher,
    private readonly clock: Clock,
  ) {}

  /**
   * Cancels the session's live run, or the named one.
   * @throws AppError `SESSION_NOT_FOUND`, `SESSION_CLOSED`, `RUN_NOT_ACTIVE`, `REQUEST_ID_CONFLICT`
   */
  async cancel(principal: Principal, command: CancelRun): Promise<Receipt> {
    checkId('request', 'request_id', command.requestId);
    const { sessionId, requestId } = command;
    const key: RequestKey = { tenantId: principal.tenantId, sessionId, requestId };
    const hash = canonicalHash({ ...command, action: 'cancel' });
    const { receipt, stopped } = await this.database.inTransaction(async (manager) => {
      const session = await openSession(this.database, manager, principal.tenantId, sessionId);
      const first = await firstOutcome<Receipt>((sql, values) => manager.query(sql, values), key, hash);
      if (first !== undefined) return { receipt: { ...first, disposition: 'replayed' as const }, stopped: [] };
      const run = await this.target(manager, session.id, command.runId);
      if (run === undefined) return { receipt: noop(command), stopped: [] };
      const done = await this.stop(manager, run, command.reason ?? null);
      const last = done.events.at(-1);
      const receipt = receiptOf(run, command, done, last);
      const at = this.clock.nowMs();
      const input = {
        kind: 'cancel' as const,
        requestId,
        body: { reason: command.reason },
        appliedSeq: last?.seq ?? run.lastSeq,
      };
      await insertInput(manager, run, at, principal.subject, input);
      await keepOutcome(manager, key, hash, { runId: run.id, status: 202, response: receipt, at });
      return { receipt, stopped: [done] };
    });
    this.publish(stopped);
    return receipt;
  }

  /** Cancels without a caller's request: the client of an attached stream went away. A run that is over stays as it is. */
  async abandon(principal: Principal, runId: string): Promise<void> {
    const stopped = await this.database.inTransaction(async (manager) => {
      const run = await lockRunAndSession(this.database, manager, runId);
      if (run === undefined || run.tenantId !== principal.tenantId || run.onDisconnect === 'continue') return [];
      return [await this.stop(manager, run, 'the client disconnected')];
    });
    this.publish(stopped);
  }

  /** Cancels every live run of a session inside the caller's transaction; the caller publishes. */
  async stopAll(manager: EntityManager, sessionId: string, reason: string): Promise<readonly Stopped[]> {
    const stopped: Stopped[] = [];
    // the newest first: ending the first one would make the next ready
    for (const { id } of [...(await waitingRuns(manager, sessionId))].reverse()) {
      const run = await lockRun(this.database, manager, id);
      if (run !== undefined) stopped.push(await this.stop(manager, run, reason));
    }
    return stopped;
  }

  publish(stopped: readonly Stopped[]): void {
    for (const { runId, events } of stopped) this.hints.committed(runId, events);
    if (stopped.some(({ events }) => events.length > 0)) this.dispatcher.announce();
  }

  private async target(manager: EntityManager, sessionId: string, runId: string | undefined): Promise<Run | undefined> {
    const live = await waitingRuns(manager, sessionId);
    const wanted = runId === undefined ? live[0] : live.find((run) => run.id === runId);
    if (wanted !== undefined) return lockRun(this.database, manager, wanted.id);
    if (runId === undefined || (await isOver(manager, sessionId, runId))) return undefined;
    throw new AppError('RUN_NOT_ACTIVE', `run ${runId} is not a run of session ${sessionId}`, {
      details: { active_run_id: live[0]?.id ?? null },
    });
  }

  private async stop(manager: EntityManager, run: Run, reason: string | null): Promise<Cancelled> {
    const runId = run.id;
    if (run.status === 'queued' || run.status === 'waiting_input') {
      const closing = closingEvents(await readOpenWork(manager, run), 'cancelled', this.clock.nowMs());
      const event = lifecycleEvent(run, this.clock, 'run_cancelled', { reason, artifacts: [], usage: run.usage });
      const events = await writeLifecycle(manager, run, [...closing, event], { epoch: run.epoch + 1 });
      return { runId, events, disposition: 'cancelled' };
    }
    if (run.status !== 'running') {
      return { runId, events: [], disposition: run.status === 'cancelling' ? 'cancelling' : 'noop' };
    }
    const event = lifecycleEvent(run, this.clock, 'cancelling', { reason });
    const events = await writeLifecycle(manager, run, [event], {
      cancel_requested_at: await this.database.nowMs(manager),
    });
    return { runId, events, disposition: 'cancelling' };
  }
}

async function isOver(manager: EntityManager, sessionId: string, runId: string): Promise<boolean> {
  const rows = await manager.query<unknown[]>('SELECT id FROM runs WHERE session_id = ? AND id = ?', [
    sessionId,
    runId,
  ]);
  return rows.length > 0;
}

function receiptOf(run: Run, command: CancelRun, done: Cancelled, last: LoggedEvent | undefined): Receipt {
  return {
    ...noop(command),
    runId: run.id,
    disposition: done.disposition,
    status: last?.status ?? run.status,
    code: last?.code ?? run.code,
    stage: last?.stage ?? run.stage,
    cursor: last?.seq ?? run.lastSeq,
  };
}

function noop(command: CancelRun): Receipt {
  return {
    accepted: true,
    sessionId: command.sessionId,
    runId: command.runId ?? null,
    requestId: command.requestId,
    action: 'cancel',
    mode: null,
    disposition: 'noop',
    status: null,
    code: null,
    stage: null,
    queuePosition: null,
    cursor: null,
  };
}
