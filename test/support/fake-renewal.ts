import { Subject } from 'rxjs';
import { LeaseRenewal } from '../../src/runs/ports/lease-renewal.port.js';
import { LeaseList } from '../../src/runs/renewal/lease-list.js';
import type { Lease } from '../../src/runs/run.js';

/** Renews nothing, and loses what the test says. */
export class FakeRenewal extends LeaseRenewal {
  readonly lost$ = new Subject<Lease>();
  readonly leases = new LeaseList();

  start(): void {
    // nothing to do
  }

  add(lease: Lease): void {
    this.leases.add(lease);
  }

  remove(lease: Lease): void {
    this.leases.remove(lease);
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }
}
