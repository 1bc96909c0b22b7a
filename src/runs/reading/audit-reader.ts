import { Injectable } from '@nestjs/common';
import { fromJson } from '../../database/columns.js';
import { Database } from '../../database/database.js';
import type { LoggedEvent } from '../../events/projection.js';
import { textOf, type Part } from '../../events/parts.js';
import { PicturesService } from '../../vision/pictures.service.js';
import { EventLog } from '../ports/event-log.port.js';
import type { AuditRequest, AuditResource, AuditResponse, RunRecord, RunView } from '../runs.types.js';

interface InputRow {
  readonly kind: string;
  readonly request_id: string | null;
  readonly actor: string;
  readonly body: unknown;
  readonly received_at: number;
  readonly applied_seq: number | null;
}

const PAGE = 500;

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
    const events = await this.events(run);
    return {
      run,
      requests: await this.requests(run, events),
      responses: events.flatMap(responseOf),
      events: withEvents ? events : [],
    };
  }

  private async events(run: RunView): Promise<readonly LoggedEvent[]> {
    const events: LoggedEvent[] = [];
    for (let after = 0; ; after = events.at(-1)?.seq ?? 0) {
      const page = await this.log.read(run.facts.runId, after, PAGE);
      events.push(...page);
      if (page.length < PAGE) return events;
    }
  }

  private async requests(run: RunView, events: readonly LoggedEvent[]): Promise<AuditRequest[]> {
    const rows = await this.database.query<InputRow>(
      'SELECT kind, request_id, actor, body, received_at, applied_seq FROM run_inputs WHERE run_id = ? AND tenant_id = ? ORDER BY n',
      [run.facts.runId, run.facts.tenantId],
    );
    const requests: AuditRequest[] = [];
    for (const row of rows) {
      const applied = events.find((event) => event.seq === Number(row.applied_seq));
      const parts = applied?.type === 'run_queued' ? (applied.input?.parts ?? []) : [];
      requests.push({
        requestId: row.request_id,
        action: row.kind,
        mode: row.kind === 'message' ? run.mode : null,
        text: row.kind === 'message' ? textOf(parts) : (fromJson<{ text?: string }>(row.body).text ?? null),
        resources: await this.resources(run, parts),
        receivedAt: Number(row.received_at),
        actor: row.actor,
        disposition: dispositionOf(row, applied),
        appliedAtEvent: row.applied_seq === null ? null : Number(row.applied_seq),
      });
    }
    return requests;
  }

  private async resources(run: RunView, parts: readonly Part[]): Promise<AuditResource[]> {
    const pictures = parts.filter((part) => part.kind === 'image' || part.kind === 'image_url');
    if (pictures.length === 0) return [];
    const session = { id: run.facts.sessionId, tenantId: run.facts.tenantId };
    const stored = await this.pictures.resourcesOf(
      session,
      pictures.map((part) => part.resourceId),
    );
    return pictures.flatMap((part) => {
      const found = stored.find((resource) => resource.resourceId === part.resourceId);
      if (found === undefined) return [];
      return [
        {
          index: part.index,
          resourceId: part.resourceId,
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

function dispositionOf(row: InputRow, applied: LoggedEvent | undefined): string {
  if (row.kind === 'cancel') return applied?.type === 'run_cancelled' ? 'cancelled' : 'cancelling';
  if (applied?.type === 'run_queued') return applied.queuePosition === 0 ? 'started' : 'queued';
  return 'applied';
}

function responseOf(event: LoggedEvent): AuditResponse[] {
  const common = { time: event.at, eventId: event.seq };
  switch (event.type) {
    case 'run_queued':
      return [{ kind: 'accepted', httpStatus: 202, accepted: true, ...common }];
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
