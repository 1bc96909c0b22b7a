import type { Observable } from 'rxjs';
import type { Lease } from '../run.js';

/** Keeps the leases of the runs that this process executes from expiring, `runs.heartbeatMs` after `runs.heartbeatMs`. */
export abstract class LeaseRenewal {
  /** Leases that somebody else has taken: their holder must let go at once. */
  abstract readonly lost$: Observable<Lease>;

  abstract start(): void;

  /** Renews this lease from now on, in place of an older one of the same run. */
  abstract add(lease: Lease): void;

  /** Leaves the lease alone from now on; a newer one of the same run stays. */
  abstract remove(lease: Lease): void;

  /** Resolves when nothing is renewed any more; never rejects. */
  abstract stop(): Promise<void>;
}
