import type { EventOf, HarnessEvent } from '../../events/harness-event.js';
import type { Lease } from '../run.js';

/** What one run appended since the last flush. */
export interface RunAppends {
  readonly lease: Lease;
  readonly events: readonly HarnessEvent[];
  resolve(): void;
  reject(error: unknown): void;
}

interface Settler {
  resolve(): void;
  reject(error: unknown): void;
}

interface Entry {
  readonly lease: Lease;
  readonly events: HarnessEvent[];
  readonly settlers: Settler[];
}

/** The appends that wait for the next commit, by run; waiting deltas of one reason and kind become one event. */
export class WaitingAppends {
  private entries: Entry[] = [];
  private newest = new Map<string, Entry>();

  constructor(private readonly options: { readonly coalesce: boolean; readonly deltaMaxBytes: number }) {}

  get isEmpty(): boolean {
    return this.entries.length === 0;
  }

  has(runId: string): boolean {
    return this.newest.has(runId);
  }

  add(lease: Lease, event: HarnessEvent): Promise<void> {
    return new Promise((resolve, reject) => {
      const entry = this.entryFor(lease);
      entry.settlers.push({ resolve, reject });
      const last = entry.events.at(-1);
      const merged = this.options.coalesce && last !== undefined ? this.merged(last, event) : undefined;
      if (merged === undefined) entry.events.push(event);
      else entry.events[entry.events.length - 1] = merged;
    });
  }

  /** Rejects what waits of a lease, because something before it was lost: a log has no holes. */
  refuse(lease: Lease, error: unknown): void {
    const entry = this.newest.get(lease.runId);
    if (entry === undefined || entry.lease.epoch !== lease.epoch) return;
    this.entries = this.entries.filter((other) => other !== entry);
    this.newest.delete(lease.runId);
    for (const settler of entry.settlers) settler.reject(error);
  }

  /** Empties the list: one entry a run. */
  take(): RunAppends[] {
    const batch = this.entries.map(({ lease, events, settlers }) => ({
      lease,
      events,
      resolve: () => {
        for (const settler of settlers) settler.resolve();
      },
      reject: (error: unknown) => {
        for (const settler of settlers) settler.reject(error);
      },
    }));
    this.entries = [];
    this.newest = new Map();
    return batch;
  }

  private entryFor(lease: Lease): Entry {
    const known = this.newest.get(lease.runId);
    // two leases of one run meet only when the first is void already; both are judged on their own
    if (known !== undefined && known.lease.epoch === lease.epoch) return known;
    const entry: Entry = { lease, events: [], settlers: [] };
    this.entries.push(entry);
    this.newest.set(lease.runId, entry);
    return entry;
  }

  private merged(last: HarnessEvent, event: HarnessEvent): EventOf<'reason_delta'> | undefined {
    if (last.type !== 'reason_delta' || event.type !== 'reason_delta') return undefined;
    if (last.reasonId !== event.reasonId || last.kind !== event.kind || event.kind === 'media') return undefined;
    if (last.runId !== event.runId || last.streamId !== event.streamId) return undefined;
    const text = (last.text ?? '') + (event.text ?? '');
    return Buffer.byteLength(text) <= this.options.deltaMaxBytes ? { ...last, text } : undefined;
  }
}
