import type { HarnessEvent } from '../../events/harness-event.js';
import type { LoggedEvent } from '../../events/projection.js';
import type { Lease } from '../run.js';

/** The run belongs to somebody else now: its lease was taken over, or it has ended. */
export class FencedError extends Error {
  constructor(runId: string) {
    super(`the lease of run ${runId} is not ours any more`);
    this.name = 'FencedError';
  }
}

/** The ordered, durable list of a run's events: the only truth that observers see. */
export abstract class EventLog {
  /**
   * Appends an event of the lease's holder. Waiting deltas of one reason and kind may become one event.
   * @returns resolves after the commit
   * @throws FencedError when the lease is void; nothing was written
   * @throws what the database refused; what was appended behind it and still waits is refused with the same error
   */
  abstract append(lease: Lease, event: HarnessEvent): Promise<void>;

  /** Resolves when everything that was appended for the run until now is committed or refused; never rejects. */
  abstract settled(runId: string): Promise<void>;

  /** Committed events with `seq > after`, in order, at most `limit`. */
  abstract read(runId: string, after: number, limit: number): Promise<readonly LoggedEvent[]>;
}
