import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../common/clock.js';
import { Database } from '../../database/database.js';
import type { HarnessEvent } from '../../events/harness-event.js';
import { isTerminal } from '../../events/harness-event.js';
import { closingEvents } from '../../events/open-work.js';
import { isTerminalStatus } from '../../events/run-state.js';
import type { LoggedEvent } from '../../events/projection.js';
import { Metrics } from '../../observability/metrics.js';
import { cancelledEvent } from '../log/cancelled-event.js';
import { readOpenWork } from '../log/open-work.js';
import { lockRunAndSession, writeLifecycle, type RunChanges } from '../log/run-rows.js';
import { EventLog, FencedError } from '../ports/event-log.port.js';
import { RunDispatcher } from '../ports/run-dispatcher.port.js';
import { RunHints } from '../ports/run-hints.port.js';
import { Takeover } from '../queue/takeover.js';
import type { Lease, Run } from '../run.js';

/** What the end of an execution adds to the run's row. */
interface EndFacts {
  /** Milliseconds that this execution took. */
  readonly execMs: number;
}

/** The ways in which an executor lets go of its run: each is one transaction under the run's lock and epoch. */
@Injectable()
export class RunEnding {
  constructor(
    private readonly database: Database,
    private readonly log: EventLog,
    private readonly hints: RunHints,
    private readonly dispatcher: RunDispatcher,
    private readonly takeover: Takeover,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
  ) {}

  /**
   * Ends the run with these events, unless new input waits for the model.
   * @param eventsFor makes the last events from the locked run; the last one is terminal
   * @returns false when an input is waiting: nothing was written
   * @throws FencedError when the lease is void
   */
  finish(lease: Lease, facts: EndFacts, eventsFor: (run: Run) => readonly HarnessEvent[]): Promise<boolean> {
    return this.letGo(lease, async (manager, run) => {
      if (run.pendingInputs > 0) return undefined;
      return writeLifecycle(manager, run, eventsFor(run), this.changes(run, facts));
    });
  }

  /** Ends a run that broke off: closes what its log has open, then writes the terminal event. */
  async breakOff(lease: Lease, facts: EndFacts, terminalFor: (run: Run) => HarnessEvent): Promise<void> {
    await this.letGo(lease, (manager, run) => this.close(manager, run, facts, terminalFor(run)));
  }

  /** Ends a run that was told to cancel. */
  async cancel(lease: Lease, facts: EndFacts): Promise<void> {
    await this.letGo(lease, (manager, run) => this.closeCancelled(manager, run, facts));
  }

  /** Puts the run back into the queue at a safe point; one that is cancelling ends instead. */
  async handBack(lease: Lease, facts: EndFacts): Promise<void> {
    await this.letGo(lease, (manager, run) =>
      run.status === 'cancelling'
        ? this.closeCancelled(manager, run, facts)
        : this.takeover.handBack(manager, run, this.changes(run, facts)),
    );
  }

  private async closeCancelled(manager: EntityManager, run: Run, facts: EndFacts): Promise<LoggedEvent[]> {
    return this.close(manager, run, facts, await cancelledEvent(manager, run, this.clock));
  }

  private async close(
    manager: EntityManager,
    run: Run,
    facts: EndFacts,
    terminal: HarnessEvent,
  ): Promise<LoggedEvent[]> {
    const how = terminal.type === 'run_cancelled' ? 'cancelled' : 'failed';
    const closing = closingEvents(await readOpenWork(manager, run), how, this.clock.nowMs());
    return writeLifecycle(manager, run, [...closing, terminal], this.changes(run, facts));
  }

  private changes(run: Run, { execMs }: EndFacts): RunChanges {
    return { exec_ms: run.execMs + execMs };
  }

  private async letGo(
    lease: Lease,
    write: (manager: EntityManager, run: Run) => Promise<LoggedEvent[] | undefined>,
  ): Promise<boolean> {
    await this.log.settled(lease.runId);
    const events = await this.underLease(lease, write);
    const last = events?.at(-1);
    if (events === undefined || last === undefined) return false;
    this.hints.committed(lease.runId, events);
    if (isTerminal(last) || last.status === 'queued') this.dispatcher.announce();
    return true;
  }

  /** A refusal is counted outside of the transaction, whose work may run twice. */
  private async underLease<T>(lease: Lease, write: (manager: EntityManager, run: Run) => Promise<T>): Promise<T> {
    try {
      return await this.database.inTransaction(async (manager) => {
        const run = await lockRunAndSession(this.database, manager, lease.runId);
        // an agent that was left behind may come late: its run has ended
        if (run?.epoch !== lease.epoch || isTerminalStatus(run.status)) throw new FencedError(lease.runId);
        return write(manager, run);
      });
    } catch (error) {
      if (error instanceof FencedError) this.metrics.fenced();
      throw error;
    }
  }
}
