import { AppError } from '../../common/app-error.js';
import { isTerminal } from '../../events/harness-event.js';
import type { LoggedEvent } from '../../events/projection.js';
import type { RunHint } from '../ports/run-hints.port.js';

/** Where an observer reads and what wakes it. */
export interface ObserverSource {
  watch(runId: string, listener: (hint: RunHint) => void): () => void;
  read(runId: string, after: number, limit: number): Promise<readonly LoggedEvent[]>;
}

export interface ObserverLimits {
  /** Events held for a slow reader; above it the observer reads from the log again. */
  readonly maxQueuedEvents: number;
  readonly maxQueuedBytes: number;
}

const PAGE = 256;

/**
 * Follows one run from a cursor: it subscribes and holds, reads the log, then delivers `seq > last` in order.
 * Whatever hints do, arrive late, twice, out of order or never, each event is delivered once.
 */
export class RunObserver {
  private held: LoggedEvent[] = [];
  private heldBytes = 0;
  /** True when the log may have more than what is held. */
  private isBehind = true;
  private isGone = false;
  private wake: (() => void) | undefined;

  constructor(
    private readonly source: ObserverSource,
    private readonly runId: string,
    /** The last event already delivered. */
    protected last: number,
    private readonly limits: ObserverLimits,
  ) {}

  /**
   * What is new, piece by piece as it was committed or read; no piece is empty.
   * Ends after the terminal event, when the run is deleted, or when the signal aborts.
   * @throws AppError `CURSOR_EXPIRED` when old events were deleted before this reader came to them
   */
  async *pieces(signal: AbortSignal): AsyncGenerator<readonly LoggedEvent[]> {
    const unwatch = this.source.watch(this.runId, (hint) => this.onHint(hint));
    const onAbort = (): void => this.wake?.();
    signal.addEventListener('abort', onAbort);
    try {
      for (;;) {
        const due = await this.next(signal);
        if (due.length === 0 || signal.aborted) return;
        yield due;
        if (isTerminal(due[due.length - 1]!)) return;
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
      unwatch();
    }
  }

  /** The next events in order; none when there will be no more. */
  private async next(signal: AbortSignal): Promise<readonly LoggedEvent[]> {
    while (!signal.aborted) {
      const due = this.isBehind ? await this.readDue() : this.due(this.takeHeld());
      if (due.length > 0) return due;
      // the signal may have come while the log was read, when nobody slept whom it could wake
      const hasRead = !this.isBehind && this.held.length === 0;
      if (hasRead && this.isGone) return [];
      if (hasRead && !signal.aborted) await this.rest();
    }
    return [];
  }

  protected async readDue(): Promise<readonly LoggedEvent[]> {
    this.isBehind = false;
    const rows = await this.source.read(this.runId, this.last, PAGE);
    if (rows.length === PAGE) this.isBehind = true;
    // the log is dense: what is missing in it was deleted, and waiting would not bring it back
    if (rows[0] !== undefined && rows[0].seq > this.last + 1) throw this.expired();
    return this.due(rows);
  }

  private onHint(hint: RunHint): void {
    if (hint.isGone === true) {
      this.isGone = true;
    } else if (hint.events === undefined) {
      if (hint.seq > this.last) this.isBehind = true;
    } else {
      this.hold(hint.events);
    }
    this.wake?.();
  }

  /** Keeps live events until what came before them is delivered. */
  protected hold(events: readonly LoggedEvent[]): void {
    this.held.push(...events);
    this.heldBytes += events.reduce((sum, event) => sum + sizeOf(event), 0);
    if (this.held.length <= this.limits.maxQueuedEvents && this.heldBytes <= this.limits.maxQueuedBytes) return;
    this.takeHeld();
    this.isBehind = true;
  }

  private takeHeld(): readonly LoggedEvent[] {
    const held = this.held;
    this.held = [];
    this.heldBytes = 0;
    return held;
  }

  /** What of these comes next: repeated ones are dropped, a gap sends the observer back to the log. */
  protected due(events: readonly LoggedEvent[]): readonly LoggedEvent[] {
    const due: LoggedEvent[] = [];
    for (const event of events) {
      if (event.seq <= this.last) continue;
      if (event.seq !== this.last + 1) {
        this.isBehind = true;
        break;
      }
      this.last = event.seq;
      due.push(event);
    }
    return due;
  }

  private expired(): AppError {
    return new AppError('CURSOR_EXPIRED', `run ${this.runId} does not keep the events after ${this.last} any more`);
  }

  private rest(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = () => {
        this.wake = undefined;
        resolve();
      };
    });
  }
}

/** A rough size: texts are what makes an event large. */
function sizeOf(event: LoggedEvent): number {
  return 256 + ('text' in event && typeof event.text === 'string' ? event.text.length * 2 : 0);
}
