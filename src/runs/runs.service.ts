import { Injectable } from '@nestjs/common';
import type { Principal } from '../auth/principal.js';
import { AppError } from '../common/app-error.js';
import type { JsonObject } from '../common/json.js';
import { Config } from '../config/config.js';
import type { LoggedEvent, RunFacts } from '../events/projection.js';
import { isTerminalStatus } from '../events/run-state.js';
import { SessionReader } from '../sessions/session-reader.js';
import { CancelRunCommand } from './commands/cancel-run.js';
import { CloseSessionCommand } from './commands/close-session.js';
import { ImportEventsCommand } from './commands/import-events.js';
import { SubmitMessageCommand } from './commands/submit-message.js';
import { AuditReader } from './reading/audit-reader.js';
import { RunFeeds } from './reading/run-feeds.js';
import { RunObserver } from './reading/run-observer.js';
import { RunReader } from './reading/run-reader.js';
import type { CancelRun, Receipt, RunPage, RunStream, RunView, SessionSnapshot, SubmitMessage } from './runs.types.js';

/** What every door can do with runs. Commands go down by these calls; events come up through the log. */
@Injectable()
export class RunsService {
  constructor(
    private readonly submits: SubmitMessageCommand,
    private readonly cancels: CancelRunCommand,
    private readonly imports: ImportEventsCommand,
    private readonly closing: CloseSessionCommand,
    private readonly reader: RunReader,
    private readonly audit: AuditReader,
    private readonly sessions: SessionReader,
    private readonly feeds: RunFeeds,
    private readonly config: Config,
  ) {}

  /**
   * Turns a message into a durable run.
   * @throws AppError `SESSION_NOT_FOUND`, `SESSION_CLOSED`, `SESSION_BUSY`, `QUEUE_FULL`, `CAPABILITY_NOT_ENABLED`,
   * `REQUEST_ID_REQUIRED`, `REQUEST_ID_CONFLICT`, `TIME_ZONE_INVALID`, `INVALID_BODY`, and those of pictures
   */
  submit(principal: Principal, command: SubmitMessage): Promise<Receipt> {
    return this.submits.submit(principal, command);
  }

  /** @throws AppError `SESSION_NOT_FOUND`, `SESSION_CLOSED`, `RUN_NOT_ACTIVE`, `REQUEST_ID_CONFLICT` */
  cancel(principal: Principal, command: CancelRun): Promise<Receipt> {
    return this.cancels.cancel(principal, command);
  }

  /** The client of an attached stream went away: the run is cancelled if it was submitted so. */
  disconnected(principal: Principal, runId: string): Promise<void> {
    return this.cancels.abandon(principal, runId);
  }

  /**
   * Checks an observation; nothing of the answer can fail with a status any more.
   * @param query.after id of the last event already seen, 0 for none
   * @param query.stopAtInput true: the stream also ends at `input_required`, because the next move is the caller's
   * @throws AppError `SESSION_NOT_FOUND`, `SESSION_CLOSED`, `RUN_NOT_FOUND`, `CURSOR_AHEAD`, `CURSOR_EXPIRED`
   */
  async observe(
    principal: Principal,
    query: {
      readonly sessionId: string;
      readonly runId: string;
      readonly after: number;
      readonly stopAtInput: boolean;
    },
  ): Promise<RunStream> {
    const run = await this.find(principal, query.sessionId, query.runId);
    checkCursor(run, query.after);
    const isOver = isTerminalStatus(run.status) && query.after >= run.lastSeq;
    const standsAtInput = query.stopAtInput && run.status === 'waiting_input' && query.after >= run.lastSeq;
    const after = standsAtInput ? run.lastSeq - 1 : query.after;
    return { run, isOver, pieces: (signal) => this.stream(query.runId, after, query.stopAtInput, isOver, signal) };
  }

  /**
   * One page of a run's events and the run as it stands; waits up to `waitMs` for the first event.
   * @throws AppError `SESSION_NOT_FOUND`, `SESSION_CLOSED`, `RUN_NOT_FOUND`, `CURSOR_AHEAD`, `CURSOR_EXPIRED`
   */
  async page(
    principal: Principal,
    query: {
      readonly sessionId: string;
      readonly runId: string;
      readonly cursor: number;
      readonly limit: number;
      readonly waitMs: number;
    },
    signal: AbortSignal,
  ): Promise<RunPage> {
    const known = await this.find(principal, query.sessionId, query.runId);
    checkCursor(known, query.cursor);
    const mayGrow = known.lastSeq <= query.cursor && !isTerminalStatus(known.status);
    if (mayGrow && query.waitMs > 0) await this.waitForNews(query.runId, query.cursor, query.waitMs, signal);
    const events = await this.feeds.read(query.runId, query.cursor, query.limit);
    const run = await this.find(principal, query.sessionId, query.runId);
    const nextCursor = events.at(-1)?.seq ?? query.cursor;
    return { run, events, nextCursor, hasMore: nextCursor < run.lastSeq };
  }

  /** The session with its newest runs. @throws AppError `SESSION_NOT_FOUND`, `SESSION_CLOSED`, `RUN_NOT_FOUND` */
  async snapshot(
    principal: Principal,
    sessionId: string,
    query: { readonly runs: number; readonly before?: string; readonly events: boolean },
  ): Promise<SessionSnapshot> {
    const session = await this.sessions.get(principal, sessionId);
    const { runs, hasMore } = await this.reader.newest(principal, sessionId, query);
    const last = session.lastRunId === null ? null : await this.find(principal, sessionId, session.lastRunId);
    const records = [];
    for (const run of runs) records.push(await this.audit.record(run, query.events));
    return {
      session,
      lastRunId: session.lastRunId,
      lastStatus: last?.status ?? null,
      runs: records,
      hasMoreRuns: hasMore,
    };
  }

  /** Cancels what runs in the session and deletes everything of it. @throws AppError `SESSION_NOT_FOUND`, `SESSION_CLOSED` */
  closeSession(principal: Principal, sessionId: string): Promise<void> {
    return this.closing.close(principal, sessionId);
  }

  /** Writes events that a client brings along, outside a run. @throws AppError `SESSION_NOT_FOUND`, `SESSION_CLOSED` */
  importEvents(
    principal: Principal,
    sessionId: string,
    command: { readonly events: readonly JsonObject[]; readonly stateDelta?: JsonObject },
  ): Promise<void> {
    return this.imports.import(principal, sessionId, command);
  }

  /** All runs of a session in order, with their events, deltas left out. */
  history(
    principal: Principal,
    sessionId: string,
  ): Promise<readonly { readonly facts: RunFacts; readonly events: readonly LoggedEvent[] }[]> {
    return this.reader.history(principal, sessionId);
  }

  /** The run; when it is not there, an error that says whether its session is. */
  private async find(principal: Principal, sessionId: string, runId: string): Promise<RunView> {
    const run = await this.reader.find(principal, sessionId, runId);
    if (run !== undefined) return run;
    await this.sessions.get(principal, sessionId);
    throw AppError.notFound('run', runId);
  }

  private async *stream(
    runId: string,
    after: number,
    stopAtInput: boolean,
    isOver: boolean,
    signal: AbortSignal,
  ): AsyncGenerator<readonly LoggedEvent[]> {
    if (isOver) return;
    const observer = new RunObserver(this.feeds, runId, after, this.config.observers);
    for await (const piece of observer.pieces(signal)) {
      const stop = stopAtInput ? piece.findIndex((event) => event.type === 'input_required') : -1;
      yield stop < 0 ? piece : piece.slice(0, stop + 1);
      if (stop >= 0) return;
    }
  }

  private async waitForNews(runId: string, cursor: number, waitMs: number, signal: AbortSignal): Promise<void> {
    const waiting = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
    const pieces = new RunObserver(this.feeds, runId, cursor, this.config.observers).pieces(waiting);
    // one piece is news enough: all of it is behind the cursor
    await pieces.next();
    await pieces.return(undefined);
  }
}

function checkCursor(run: RunView, cursor: number): void {
  if (cursor < run.oldestCursor) {
    throw new AppError('CURSOR_EXPIRED', `run ${run.facts.runId} keeps only events after ${run.oldestCursor}`, {
      details: { oldest_cursor: run.oldestCursor, snapshot: `/v1/sessions/${run.facts.sessionId}` },
    });
  }
  if (cursor <= run.lastSeq) return;
  throw new AppError('CURSOR_AHEAD', `run ${run.facts.runId} has ${run.lastSeq} events, the cursor is ${cursor}`, {
    details: { last_id: run.lastSeq },
  });
}
