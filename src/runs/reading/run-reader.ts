import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error.js';
import type { Principal } from '../../auth/principal.js';
import { Config } from '../../config/config.js';
import { Database } from '../../database/database.js';
import type { LoggedEvent, RunFacts } from '../../events/projection.js';
import type { InputRequired } from '../../events/values.js';
import { factsOf, RUN_WITH_SESSION } from '../execution/run-context.js';
import { EVENT_COLUMNS, eventOf, type EventRow } from '../log/event-rows.js';
import { UNENDED } from '../log/run-sql.js';
import { runOf, type Run } from '../run.js';
import type { RunView } from '../runs.types.js';

type Row = Record<string, unknown>;

/** Reads runs for their tenant. A foreign id is as unknown as one that never was. */
@Injectable()
export class RunReader {
  constructor(
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  /** The run of an open session of the tenant, or undefined. */
  async find(principal: Principal, sessionId: string, runId: string): Promise<RunView | undefined> {
    const rows = await this.database.query<Row>(
      `${RUN_WITH_SESSION} WHERE r.tenant_id = ? AND r.session_id = ? AND r.id = ? AND s.status = 'open'`,
      [principal.tenantId, sessionId, runId],
    );
    return rows[0] && this.view(rows[0]);
  }

  /**
   * The newest runs of a session, oldest first.
   * @param before only runs older than this one
   * @throws AppError `RUN_NOT_FOUND` for an unknown `before`
   */
  async newest(
    principal: Principal,
    sessionId: string,
    query: { readonly runs: number; readonly before?: string },
  ): Promise<{ runs: readonly RunView[]; hasMore: boolean }> {
    const before = query.before === undefined ? undefined : await this.ordOf(principal, sessionId, query.before);
    const rows = await this.database.query<Row>(
      `${RUN_WITH_SESSION} WHERE r.tenant_id = ? AND r.session_id = ? AND r.kind = 'message'${before === undefined ? '' : ' AND r.ord < ?'} ORDER BY r.ord DESC LIMIT ?`,
      [principal.tenantId, sessionId, ...(before === undefined ? [] : [before]), query.runs + 1],
    );
    const page = rows.slice(0, query.runs).reverse();
    const runs = [];
    for (const row of page) runs.push(await this.view(row));
    return { runs, hasMore: rows.length > query.runs };
  }

  /** All runs of a session with their events, in order, without deltas. */
  async history(
    principal: Principal,
    sessionId: string,
  ): Promise<readonly { facts: RunFacts; events: readonly LoggedEvent[] }[]> {
    const runs = await this.database.query<Row>(
      `${RUN_WITH_SESSION} WHERE r.tenant_id = ? AND r.session_id = ? ORDER BY r.ord`,
      [principal.tenantId, sessionId],
    );
    const rows = await this.database.query<EventRow>(
      "SELECT e.* FROM runs r JOIN run_events e ON e.run_id = r.id WHERE r.tenant_id = ? AND r.session_id = ? AND e.type <> 'reason_delta' ORDER BY r.ord, e.seq",
      [principal.tenantId, sessionId],
    );
    const events = new Map<string, LoggedEvent[]>();
    for (const row of rows) {
      const list = events.get(row.run_id);
      if (list === undefined) events.set(row.run_id, [eventOf(row)]);
      else list.push(eventOf(row));
    }
    return runs.map((row) => ({
      facts: factsOf(row, this.config.profile.adk),
      events: events.get(row['id'] as string) ?? [],
    }));
  }

  private async ordOf(principal: Principal, sessionId: string, runId: string): Promise<number> {
    const rows = await this.database.query<{ ord: number }>(
      'SELECT ord FROM runs WHERE tenant_id = ? AND session_id = ? AND id = ?',
      [principal.tenantId, sessionId, runId],
    );
    if (rows[0] === undefined) throw AppError.notFound('run', runId);
    return Number(rows[0].ord);
  }

  private async view(row: Row): Promise<RunView> {
    const run = runOf(row);
    return {
      facts: factsOf(row, this.config.profile.adk),
      kind: run.kind,
      status: run.status,
      code: run.code,
      stage: run.stage,
      inputRequired: run.status === 'waiting_input' ? await this.inputRequired(run) : null,
      result: run.result,
      error: run.error,
      artifacts: [],
      usage: run.usage,
      attempt: Math.max(run.attempt, 1),
      mode: run.mode,
      queuePosition: run.status === 'queued' ? await this.queuePosition(run) : null,
      lastSeq: run.lastSeq,
      oldestCursor: run.eventsKept === 'all' ? 0 : run.lastSeq - 1,
      createdAt: run.createdAt,
      startedAt: run.startedAt,
      endedAt: run.endedAt,
    };
  }

  private async inputRequired(run: Run): Promise<InputRequired | null> {
    const rows = await this.database.query<EventRow>(
      `SELECT ${EVENT_COLUMNS} FROM run_events WHERE run_id = ? AND type = 'input_required' ORDER BY seq DESC LIMIT 1`,
      [run.id],
    );
    const event = rows[0] === undefined ? undefined : eventOf(rows[0]);
    return event?.type === 'input_required' ? event.inputRequired : null;
  }

  /** How many runs of the session go first. */
  private async queuePosition(run: Run): Promise<number> {
    const rows = await this.database.query<{ n: number }>(
      `SELECT COUNT(*) AS n FROM runs WHERE session_id = ? AND ${UNENDED} AND (active_session_id IS NOT NULL OR priority < ? OR (priority = ? AND ord < ?)) AND id <> ?`,
      [run.sessionId, run.priority, run.priority, run.ord, run.id],
    );
    return Number(rows[0]?.n ?? 0);
  }
}
