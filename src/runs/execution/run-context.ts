import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { fromJson } from '../../database/columns.js';
import { Database } from '../../database/database.js';
import type { LoggedEvent, RunFacts } from '../../events/projection.js';
import type { ImageUrlPart, Part } from '../../events/parts.js';
import type { MessageBody } from '../reading/message-body.js';
import { SessionHistories } from '../reading/session-histories.js';
import { runOf, type Run } from '../run.js';

/** Everything an executor needs to know of a run before it starts. */
export interface RunContext {
  readonly run: Run;
  readonly facts: RunFacts;
  readonly body: Partial<MessageBody>;
  readonly timeZone: string | undefined;
  /** The history rows of the session up to and including this run. */
  readonly history: readonly LoggedEvent[];
}

interface JoinedRow extends Record<string, unknown> {
  readonly external_id: string;
  readonly app_name: string;
  readonly user_id: string;
  readonly session_time_zone: string | null;
}

/** Columns of a run with those of its session that a reader of the run needs. */
export const RUN_WITH_SESSION =
  'SELECT r.*, s.external_id, s.app_name, s.user_id, s.time_zone AS session_time_zone FROM runs r JOIN sessions s ON s.id = r.session_id';

/** The facts of a row of `RUN_WITH_SESSION`. */
export function factsOf(row: Record<string, unknown>, profile: RunFacts['profile']): RunFacts {
  const run = runOf(row);
  const joined = row as JoinedRow;
  return {
    tenantId: run.tenantId,
    sessionId: run.sessionId,
    externalSessionId: joined.external_id,
    appName: joined.app_name,
    userId: joined.user_id,
    runId: run.id,
    agentName: run.agent,
    invocationId: run.invocationId,
    capabilities: run.capabilities,
    language: run.language,
    profile,
  };
}

/** Loads runs for their executor. */
@Injectable()
export class RunContexts {
  constructor(
    private readonly database: Database,
    private readonly histories: SessionHistories,
    private readonly config: Config,
  ) {}

  async load(runId: string): Promise<RunContext> {
    const rows = await this.database.query<JoinedRow>(`${RUN_WITH_SESSION} WHERE r.id = ?`, [runId]);
    const row = rows[0];
    if (row === undefined) throw new Error(`run ${runId} has no row`);
    const run = runOf(row);
    const inputs = await this.database.query<{ body: unknown }>(
      "SELECT body FROM run_inputs WHERE run_id = ? AND kind = 'message' ORDER BY n LIMIT 1",
      [runId],
    );
    const body = inputs[0] === undefined ? {} : fromJson<Partial<MessageBody>>(inputs[0].body);
    return {
      run,
      facts: factsOf(row, this.config.profile.adk),
      body,
      timeZone: body.timeZone ?? row.session_time_zone ?? undefined,
      history: await this.histories.upTo(run.sessionId, run.ord),
    };
  }
}

/** The parts of the run's own messages. */
export function ownParts(context: RunContext): readonly Part[] {
  return context.history.flatMap((event) =>
    event.runId === context.run.id && event.type === 'run_queued' ? (event.input?.parts ?? []) : [],
  );
}

/** Pictures of the run that are not fetched yet. */
export function unfetched(context: RunContext): readonly ImageUrlPart[] {
  const attached = new Set(
    context.history.flatMap((event) =>
      event.runId === context.run.id && event.type === 'progress' ? (event.attached ?? []).map(indexOf) : [],
    ),
  );
  return ownParts(context).filter(
    (part): part is ImageUrlPart => part.kind === 'image_url' && !attached.has(part.index),
  );
}

const indexOf = (part: Part): number => ('index' in part ? part.index : -1);
