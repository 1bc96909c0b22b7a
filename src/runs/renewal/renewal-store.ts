import type { Connection } from 'mysql2';
import { isRepeatable } from '../../database/database-errors.js';
import { drop, executeWithin, openMysqlConnection } from '../../database/mysql-session.js';
import { MYSQL_NOW_MS } from '../../database/now.js';
import type { Lease } from '../run.js';
import { chunksOf } from '../chunks.js';
import { renewLeases, type Query } from './renew-leases.js';
import type { RenewalSettings } from './renewal-messages.js';

const AT_ONCE = 500;
const LONGEST_ANSWER_MS = 10_000;

/** Renews leases on MySQL or MariaDB over a connection of its own, which is opened when it is needed. */
export class RenewalStore {
  private connection: Connection | undefined;

  constructor(private readonly settings: RenewalSettings) {}

  /**
   * Renews each lease that is still its owner's.
   * @returns the leases that somebody else has taken
   * @throws the driver's error when the database does not answer: nobody knows then what was renewed
   */
  async renew(leases: readonly Lease[]): Promise<readonly Lease[]> {
    const isOld = this.connection !== undefined;
    try {
      return await this.tryAll(leases);
    } catch (error) {
      if (!isOld) throw error;
    }
    // the server closes a connection that is idle for long: that is no outage
    return this.tryAll(leases);
  }

  close(): void {
    if (this.connection !== undefined) drop(this.connection);
    this.connection = undefined;
  }

  /** A connection on which something failed is not used again. */
  private async tryAll(leases: readonly Lease[]): Promise<readonly Lease[]> {
    try {
      return await this.renewAll(leases);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  private async renewAll(leases: readonly Lease[]): Promise<readonly Lease[]> {
    const lost: Lease[] = [];
    const locked: Lease[] = [];
    for (const chunk of chunksOf(leases, AT_ONCE)) {
      const renewed = await this.inTransaction(chunk, ' FOR UPDATE SKIP LOCKED');
      lost.push(...renewed.lost);
      locked.push(...renewed.unseen);
    }
    for (const chunk of chunksOf(locked, AT_ONCE)) lost.push(...(await this.waitFor(chunk)));
    return lost;
  }

  /**
   * Rows that somebody is writing: they are waited for, after all others are renewed. Nobody can take such a run
   * meanwhile, and whoever waits for its row is the first to have it.
   */
  private async waitFor(leases: readonly Lease[]): Promise<readonly Lease[]> {
    try {
      const { lost, unseen } = await this.inTransaction(leases, ' FOR UPDATE');
      return [...lost, ...unseen];
    } catch (error) {
      if (!isRepeatable(error)) throw error;
      return []; // still locked: the next round tries again
    }
  }

  private async inTransaction(leases: readonly Lease[], lock: string): ReturnType<typeof renewLeases> {
    const query = await this.open();
    const until = `${MYSQL_NOW_MS} + ${this.settings.leaseMs}`;
    try {
      await query('START TRANSACTION', []);
      const renewed = await renewLeases(query, leases, { owner: this.settings.owner, lock, until });
      await query('COMMIT', []);
      return renewed;
    } catch (error) {
      if (isRepeatable(error)) await query('ROLLBACK', []);
      throw error;
    }
  }

  private async open(): Promise<Query> {
    const { url, heartbeatMs } = this.settings;
    const lockWaitS = Math.ceil(heartbeatMs / 1000);
    const answerMs = Math.min(LONGEST_ANSWER_MS, heartbeatMs) + lockWaitS * 1000;
    if (this.connection === undefined) {
      this.connection = await openMysqlConnection(url, answerMs);
      await executeWithin(this.connection, `SET SESSION innodb_lock_wait_timeout = ${lockWaitS}`, undefined, answerMs);
    }
    const { connection } = this;
    return async (sql, parameters) => (await executeWithin(connection, sql, [...parameters], answerMs))[0];
  }
}
