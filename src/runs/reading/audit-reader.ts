import { Injectable } from '@nestjs/common';
import { fromJson } from '../../database/columns.js';
import { Database } from '../../database/database.js';
import type { LoggedEvent } from '../../events/projection.js';
import { PicturesService } from '../../vision/pictures.service.js';
import { EVENT_COLUMNS, eventOf, type EventRow } from '../log/event-rows.js';
import { EventLog } from '../ports/event-log.port.js';
import type { AuditRequest, AuditResource, AuditResponse, RunRecord, RunView } from '../runs.types.js';
import type { MessageBody } from './message-body.js';

interface InputRow {
  readonly kind: string;
  readonly request_id: string | null;
  readonly actor: string;
  readonly body: unknown;
  readonly received_at: number;
  readonly applied_seq: number | null;
}

const PAGE = 500;
/** The events that are answers to a caller. */
const ANSWERS = [
  'input_required',
  'answer_accepted',
  'run_completed',
  'run_failed',
  'run_expired',
  'run_cancelled',
] as const;

/** Says what was asked of a run and what it answered. */
@Injectable()
export class AuditReader {
  constructor(
    private readonly database: Database,
    private readonly log: EventLog,
    private readonly pictures: PicturesService,
  ) {}

  /** @param withEvents false: `events` stays empty */
  async record(run: RunView, withEvents: boolean): Promise<RunRecord> {
    const answers = await this.answers(run);
    return {
      run,
      requests: await this.requests(run, answers),
      responses: [
        { kind: 'accepted', httpStatus: 202, accepted: true, time: run.createdAt, eventId: 1 },
        ...answers.flatMap(responseOf),
      ],
      events: withEvents ? await this.events(run) : [],
    };
  }

  private async answers(run: RunView): Promise<readonly LoggedEvent[]> {
    const rows = await this.database.query<EventRow>(
      `SELECT ${EVENT_COLUMNS} FROM run_events WHERE run_id = ? AND tenant_id = ? AND type IN (${ANSWERS.map(() => '?').join(', ')}) ORDER BY seq`,
      [run.facts.runId, run.facts.tenantId, ...ANSWERS],
    );
    return rows.map(eventOf);
  }

  private async events(run: RunView): Promise<readonly LoggedEvent[]> {
    const events: LoggedEvent[] = [];
    for (let after = 0; ; after = events.at(-1)?.seq ?? 0) {
      const page = await this.log.read(run.facts.runId, after, PAGE);
      events.push(...page);
      if (page.length < PAGE) return events;
    }
  }

  private async requests(run: RunView, answers: readonly LoggedEvent[]): Promise<AuditRequest[]> {
    const rows = await this.database.query<InputRow>(
      'SELECT kind, request_id, actor, body, received_at, applied_seq FROM run_inputs WHERE run_id = ? AND tenant_id = ? ORDER BY n',
      [run.facts.runId, run.facts.tenantId],
    );
    const requests: AuditRequest[] = [];
    for (const row of rows) {
      const body = fromJson<Partial<MessageBody>>(row.body);
      const appliedAtEvent = row.applied_seq === null ? null : Number(row.applied_seq);
      const isMessage = row.kind === 'message';
      requests.push({
        requestId: row.request_id,
        action: row.kind,
        mode: isMessage ? run.mode : null,
        text: body.text ?? null,
        resources: await this.resources(run, body.resources ?? []),
        receivedAt: Number(row.received_at),
        actor: row.actor,
        disposition: body.disposition ?? cancelDisposition(answers, appliedAtEvent),
        appliedAtEvent,
      });
    }
    return requests;
  }

  private async resources(run: RunView, named: MessageBody['resources']): Promise<AuditResource[]> {
    if (named.length === 0) return [];
    const session = { id: run.facts.sessionId, tenantId: run.facts.tenantId };
    const stored = await this.pictures.resourcesOf(
      session,
      named.map(({ resourceId }) => resourceId),
    );
    return named.flatMap(({ index, resourceId }) => {
      const found = stored.find((resource) => resource.resourceId === resourceId);
      if (found === undefined) return [];
      return [
        {
          index,
          resourceId,
          sourceType: found.kind,
          sourceUrl: found.sourceUrl,
          sha256: found.picture?.sha256 ?? null,
          mimeType: found.picture?.mimeType ?? null,
          width: found.picture?.width ?? null,
          height: found.picture?.height ?? null,
          bytes: found.picture?.bytes ?? null,
        },
      ];
    });
  }
}

/** A cancel of a run that nobody worked on ended it at once; any other was a signal. */
function cancelDisposition(answers: readonly LoggedEvent[], appliedAt: number | null): string {
  return answers.some((event) => event.type === 'run_cancelled' && event.seq === appliedAt)
    ? 'cancelled'
    : 'cancelling';
}

function responseOf(event: LoggedEvent): AuditResponse[] {
  const common = { time: event.at, eventId: event.seq };
  switch (event.type) {
    case 'run_completed':
      return [{ kind: 'agent_result', httpStatus: 200, result: event.result, ...common }];
    case 'input_required':
      return [{ kind: 'input_required', httpStatus: 200, questionId: event.inputRequired.questionId, ...common }];
    case 'answer_accepted':
      return [{ kind: 'answer_result', httpStatus: 200, businessStatus: 0, ...common }];
    case 'run_failed':
    case 'run_expired':
      return [{ kind: 'error', httpStatus: 200, error: event.error, ...common }];
    case 'run_cancelled':
      return [{ kind: 'cancelled', httpStatus: 200, ...common }];
    default:
      return [];
  }
}
