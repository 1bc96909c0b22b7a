import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import type { HarnessEvent } from '../../events/harness-event.js';
import type { LoggedEvent } from '../../events/projection.js';
import { EVENT_COLUMNS, eventOf, type EventRow } from '../log/event-rows.js';
import { GroupCommitter } from '../log/group-committer.js';
import { EventLog } from '../ports/event-log.port.js';
import type { Lease } from '../run.js';

/** The log as rows of `run_events`. */
@Injectable()
export class DatabaseEventLog extends EventLog {
  constructor(
    private readonly database: Database,
    private readonly committer: GroupCommitter,
  ) {
    super();
  }

  append(lease: Lease, event: HarnessEvent): Promise<void> {
    return this.committer.append(lease, event);
  }

  settled(runId: string): Promise<void> {
    return this.committer.settled(runId);
  }

  async read(runId: string, after: number, limit: number): Promise<readonly LoggedEvent[]> {
    const rows = await this.database.query<EventRow>(
      `SELECT ${EVENT_COLUMNS} FROM run_events WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?`,
      [runId, after, limit],
    );
    return rows.map(eventOf);
  }
}
