import type { Lease } from '../run.js';

/** Leases to renew, one of each run. */
export class LeaseList {
  private readonly leases = new Map<string, Lease>();

  constructor(leases: readonly Lease[] = []) {
    for (const lease of leases) this.add(lease);
  }

  get size(): number {
    return this.leases.size;
  }

  /** In the order of their runs' ids. */
  all(): readonly Lease[] {
    return [...this.leases.values()].toSorted((one, other) => (one.runId < other.runId ? -1 : 1));
  }

  add(lease: Lease): void {
    this.leases.set(lease.runId, lease);
  }

  /** @returns false when the list has another lease of the run, or none */
  remove({ runId, epoch }: Lease): boolean {
    return this.leases.get(runId)?.epoch === epoch && this.leases.delete(runId);
  }
}
