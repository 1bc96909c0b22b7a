import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import { Config } from '../../config/config.js';
import { Database } from '../../database/database.js';
import { Logger } from '../../observability/logger.js';
import { PicturesService } from '../../vision/pictures.service.js';
import { FailureLog } from '../failure-log.js';
import { UNENDED } from '../log/run-sql.js';
import { Rounds } from '../rounds.js';
import { CancelRunCommand } from './cancel-run.js';
import { openSession } from './command-rows.js';

const ROWS_AT_ONCE = 1000;
const SESSIONS_AT_ONCE = 20;

/**
 * Deletes sessions. Closing is one transaction: from then on nothing of the session can be read, and its ADK name
 * is free again. The rows go in small batches afterwards, also after a restart; the bare id stays.
 */
@Injectable()
export class CloseSessionCommand implements OnApplicationShutdown {
  private readonly rounds: Rounds;

  constructor(
    private readonly database: Database,
    private readonly cancels: CancelRunCommand,
    private readonly pictures: PicturesService,
    config: Config,
    logger: Logger,
  ) {
    const failures = new FailureLog(logger, 'closed sessions could not be erased yet');
    this.rounds = new Rounds(() => this.eraseAll(), failures, { everyMs: config.runs.reaperMs });
  }

  onApplicationShutdown(): void {
    this.rounds.stop();
  }

  /** Begins to erase what was closed before. */
  start(): void {
    this.rounds.start();
  }

  /** @throws AppError `SESSION_NOT_FOUND`, `SESSION_CLOSED` */
  async close(principal: Principal, sessionId: string): Promise<void> {
    const events = await this.database.inTransaction(async (manager) => {
      await openSession(this.database, manager, principal.tenantId, sessionId);
      await manager.query("UPDATE sessions SET status = 'closed', external_id = id WHERE id = ? AND tenant_id = ?", [
        sessionId,
        principal.tenantId,
      ]);
      return this.cancels.stopAll(manager, sessionId, 'the session was deleted');
    });
    this.cancels.publish(events);
    void this.eraseClosed();
  }

  /** Erases what was closed and runs no more; never rejects. */
  eraseClosed(): Promise<void> {
    return this.rounds.now();
  }

  private async eraseAll(): Promise<void> {
    for (;;) {
      const closed = await this.closedSessions();
      for (const { id, tenant_id: tenantId } of closed) await this.erase(id, tenantId);
      if (closed.length < SESSIONS_AT_ONCE) return;
    }
  }

  /** Closed sessions in which nothing runs any more. */
  private closedSessions(): Promise<{ id: string; tenant_id: string }[]> {
    return this.database.query(
      `SELECT s.id, s.tenant_id FROM sessions s WHERE s.status = 'closed'
       AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.session_id = s.id AND r.${UNENDED})
       LIMIT ?`,
      [SESSIONS_AT_ONCE],
    );
  }

  private async erase(sessionId: string, tenantId: string): Promise<void> {
    await this.pictures.deleteOf({ id: sessionId, tenantId });
    const runs = await this.database.query<{ id: string; last_seq: number }>(
      'SELECT id, last_seq FROM runs WHERE session_id = ? AND tenant_id = ?',
      [sessionId, tenantId],
    );
    for (const run of runs) {
      for (let seq = 0; seq <= Number(run.last_seq); seq += ROWS_AT_ONCE) {
        await this.remove('run_events', 'run_id = ? AND seq > ? AND seq <= ?', [run.id, seq, seq + ROWS_AT_ONCE]);
      }
      await this.remove('run_inputs', 'run_id = ?', [run.id]);
    }
    await this.remove('requests', 'tenant_id = ? AND session_id = ?', [tenantId, sessionId]);
    await this.remove('runs', 'session_id = ?', [sessionId]);
    await this.leaveTombstone(sessionId, tenantId);
  }

  /** The bare id stays, so that a late caller hears that the session was deleted. */
  private async leaveTombstone(sessionId: string, tenantId: string): Promise<void> {
    await this.database.inTransaction((manager) =>
      manager.query(
        "UPDATE sessions SET status = 'erased', user_id = '', state = '{}', capabilities = '[]', client_reference = NULL, time_zone = NULL WHERE id = ? AND tenant_id = ?",
        [sessionId, tenantId],
      ),
    );
  }

  private async remove(table: string, where: string, parameters: readonly unknown[]): Promise<void> {
    await this.database.inTransaction(
      (manager) => manager.query(`DELETE FROM ${table} WHERE ${where}`, [...parameters]),
      'batch',
    );
  }
}
