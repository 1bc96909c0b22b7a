import type { Observable } from 'rxjs';

/** Says when a queued run may be due. Whoever listens claims in the database: a lost or doubled call is harmless. */
export abstract class RunDispatcher {
  /** Emits when it is worth looking for a claimable run. */
  abstract readonly due$: Observable<void>;
  /** Called after a commit that made a run claimable. */
  abstract announce(): void;
}
