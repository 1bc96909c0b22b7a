import { Injectable } from '@nestjs/common';
import { LeaseRenewal } from '../ports/lease-renewal.port.js';
import { RunHints } from '../ports/run-hints.port.js';
import type { Lease } from '../run.js';

/** Why an executor must let go of its run. */
export type StopReason = 'cancel' | 'fenced' | 'drain' | 'time_limit';

/** The reason with which a run's signal is aborted. */
export class RunStopped extends Error {
  constructor(readonly reason: StopReason) {
    super(`the run was stopped: ${reason}`);
    this.name = 'RunStopped';
  }
}

/** A run that this process executes now. */
export class HeldRun {
  private readonly controller = new AbortController();

  constructor(
    readonly lease: Lease,
    /** Ends the holding. */
    readonly release: () => void,
  ) {}

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  stop(reason: StopReason): void {
    this.abort(new RunStopped(reason));
  }

  /** Ends the execution for an error of its own; the first reason stands. */
  abort(error: unknown): void {
    if (!this.signal.aborted) this.controller.abort(error);
  }
}

/** The runs that this process executes: their leases are renewed, and signals reach them. */
@Injectable()
export class HeldRuns {
  private readonly runs = new Map<string, HeldRun>();

  constructor(
    hints: RunHints,
    private readonly renewal: LeaseRenewal,
  ) {
    hints.hints$.subscribe((hint) => {
      if (hint.events?.some((event) => event.type === 'cancelling')) this.runs.get(hint.runId)?.stop('cancel');
    });
    renewal.lost$.subscribe((lease) => {
      const held = this.runs.get(lease.runId);
      if (held?.lease.epoch === lease.epoch) held.stop('fenced');
    });
  }

  get size(): number {
    return this.runs.size;
  }

  hold(lease: Lease): HeldRun {
    const held: HeldRun = new HeldRun(lease, () => {
      if (this.runs.get(lease.runId) === held) this.runs.delete(lease.runId);
      this.renewal.remove(lease);
    });
    this.runs.get(lease.runId)?.stop('fenced');
    this.runs.set(lease.runId, held);
    this.renewal.add(lease);
    return held;
  }

  has(runId: string): boolean {
    return this.runs.has(runId);
  }

  all(): readonly HeldRun[] {
    return [...this.runs.values()];
  }
}
