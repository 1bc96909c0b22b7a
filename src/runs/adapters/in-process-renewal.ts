import { Subject } from 'rxjs';
import type { Config } from '../../config/config.js';
import type { Database } from '../../database/database.js';
import type { Logger } from '../../observability/logger.js';
import { chunksOf } from '../chunks.js';
import { FailureLog } from '../failure-log.js';
import { LeaseRenewal } from '../ports/lease-renewal.port.js';
import { LeaseList } from '../renewal/lease-list.js';
import { renewLeases } from '../renewal/renew-leases.js';
import { Rounds } from '../rounds.js';
import type { Lease } from '../run.js';

const AT_ONCE = 500;

/**
 * Renews on the event loop, which is enough where nobody else can take a run: on SQLite. A blocked loop renews
 * nothing, and other processes would take its runs.
 */
export class InProcessRenewal extends LeaseRenewal {
  readonly lost$ = new Subject<Lease>();
  private readonly leases = new LeaseList();
  private readonly rounds: Rounds;

  /** @param owner who the leases say holds them */
  constructor(
    private readonly database: Database,
    private readonly config: Config,
    logger: Logger,
    private readonly owner: string,
  ) {
    super();
    const failures = new FailureLog(logger, 'leases could not be renewed');
    this.rounds = new Rounds(() => this.renew(), failures, { everyMs: config.runs.heartbeatMs });
  }

  start(): void {
    this.rounds.start();
  }

  add(lease: Lease): void {
    this.leases.add(lease);
  }

  remove(lease: Lease): void {
    this.leases.remove(lease);
  }

  stop(): Promise<void> {
    this.rounds.stop();
    return Promise.resolve();
  }

  /** Renews every lease once. */
  async renew(): Promise<void> {
    for (const chunk of chunksOf(this.leases.all(), AT_ONCE)) {
      const { lost, unseen } = await this.database.inTransaction(async (manager) => {
        const until = `${(await this.database.nowMs(manager)) + this.config.runs.leaseMs}`;
        const query = (sql: string, parameters: readonly unknown[]): Promise<unknown> =>
          manager.query(sql, [...parameters]);
        return renewLeases(query, chunk, { owner: this.owner, lock: this.database.forUpdate, until });
      });
      for (const lease of [...lost, ...unseen]) if (this.leases.remove(lease)) this.lost$.next(lease);
    }
  }
}
