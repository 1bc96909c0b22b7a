import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Subscription } from 'rxjs';
import { Config } from '../../config/config.js';
import { Logger } from '../../observability/logger.js';
import { FlagPoll } from '../execution/flag-poll.js';
import { HeldRuns } from '../execution/held-runs.js';
import { RunExecutor } from '../execution/run-executor.js';
import { FailureLog } from '../failure-log.js';
import { LeaseRenewal } from '../ports/lease-renewal.port.js';
import { RunDispatcher } from '../ports/run-dispatcher.port.js';
import type { Lease } from '../run.js';
import { Reaper } from './reaper.js';
import { RunClaims } from './run-claims.js';

const CLAIM_POLL_MS = 5;

/** Claims queued runs and executes them, `runs.workerConcurrency` at once. */
@Injectable()
export class RunWorker {
  private subscription: Subscription | undefined;
  private readonly executions = new Set<Promise<void>>();
  private reserved = 0;
  private isClaiming = false;
  private mayHaveMore = false;
  private isStopping = false;
  private readonly claimFailures: FailureLog;

  constructor(
    private readonly claims: RunClaims,
    private readonly executor: RunExecutor,
    private readonly held: HeldRuns,
    private readonly renewal: LeaseRenewal,
    private readonly flags: FlagPoll,
    private readonly reaper: Reaper,
    private readonly dispatcher: RunDispatcher,
    private readonly config: Config,
    logger: Logger,
  ) {
    this.claimFailures = new FailureLog(logger, 'runs could not be claimed');
  }

  /** Takes over what a dead process left, then claims. */
  async start(): Promise<void> {
    this.renewal.start();
    this.flags.start();
    await this.reaper.start();
    this.subscription = this.dispatcher.due$.subscribe(() => void this.claimAll());
    void this.claimAll();
  }

  /** True while this process gives its runs away: it takes no new ones. */
  get isDraining(): boolean {
    return this.isStopping;
  }

  /** A place for a run that its own request starts at once; undefined when none is free or this process has no worker. */
  reserve(): { start(lease: Lease): void; cancel(): void } | undefined {
    if (this.subscription === undefined || this.isStopping || this.freeSlots === 0) return undefined;
    this.reserved += 1;
    return {
      start: (lease) => {
        this.reserved -= 1;
        this.execute(lease);
      },
      cancel: () => {
        this.reserved -= 1;
      },
    };
  }

  /**
   * Stops claiming, lets runs go on to their next safe point, and hands back the rest.
   * @param graceMs how long runs may go on, milliseconds
   */
  async stop(graceMs: number): Promise<void> {
    this.isStopping = true;
    this.subscription?.unsubscribe();
    this.executor.drain();
    const deadline = setTimeout(() => {
      for (const run of this.held.all()) run.stop('drain');
    }, graceMs);
    // a claim, or a submit that has a place, may still bring a run: it is handed back too
    while (this.executions.size > 0 || this.isClaiming || this.reserved > 0) {
      await (this.executions.size > 0 ? Promise.all(this.executions) : sleep(CLAIM_POLL_MS));
    }
    clearTimeout(deadline);
    this.reaper.stop();
    this.flags.stop();
    await this.renewal.stop();
  }

  private get freeSlots(): number {
    return this.config.runs.workerConcurrency - this.executions.size - this.reserved;
  }

  private async claimAll(): Promise<void> {
    this.mayHaveMore = true;
    if (this.isClaiming) return;
    this.isClaiming = true;
    try {
      while (this.mayHaveMore && this.freeSlots > 0 && !this.isStopping) {
        // before the claim looks, so that a run announced while it does is not missed
        this.mayHaveMore = false;
        const lease = await this.claims.claimNext();
        this.claimFailures.worked();
        if (lease === undefined) continue;
        this.mayHaveMore = true;
        this.execute(lease);
      }
    } catch (error) {
      this.claimFailures.failed(error);
    } finally {
      this.isClaiming = false;
    }
  }

  private execute(lease: Lease): void {
    const execution = this.executor.execute(lease).finally(() => {
      this.executions.delete(execution);
      if (this.mayHaveMore) void this.claimAll();
    });
    this.executions.add(execution);
  }
}
