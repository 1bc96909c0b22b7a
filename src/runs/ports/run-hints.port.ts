import type { Observable } from 'rxjs';
import type { LoggedEvent } from '../../events/projection.js';

/** «Look at the log of this run»: never the truth, losing one costs at most `events.pollMs`. */
export interface RunHint {
  readonly runId: string;
  /** The run's last event at that moment. */
  readonly seq: number;
  /** The committed events themselves, when the hint stays inside the process. */
  readonly events?: readonly LoggedEvent[];
  /** The run was deleted with its session: nothing will come any more. */
  readonly isGone?: true;
}

/** Says who should look at the log now. Broadcast: every process sees every hint. */
export abstract class RunHints {
  abstract readonly hints$: Observable<RunHint>;
  /** Called after the commit, never before. */
  abstract publish(hint: RunHint): void;

  /** Tells of events that a run's commit brought, in order; none is no news. */
  committed(runId: string, events: readonly LoggedEvent[]): void {
    const last = events.at(-1);
    if (last !== undefined) this.publish({ runId, seq: last.seq, events });
  }
}
