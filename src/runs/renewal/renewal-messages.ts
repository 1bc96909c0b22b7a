import type { Lease } from '../run.js';

/** What a renewal thread is told at its start. The URL holds a password: it is never logged. */
export interface RenewalSettings {
  /** `database.url` */
  readonly url: string;
  readonly owner: string;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  /** A process that gives no sign of life for longer does not hold its runs any more, milliseconds. */
  readonly silenceMs: number;
}

export interface RenewalStart extends RenewalSettings {
  readonly leases: readonly Lease[];
}

/** What the process tells its thread; every message is a sign of life. */
export type ToRenewal =
  { readonly type: 'add' | 'remove'; readonly lease: Lease } | { readonly type: 'alive' | 'stop' };

/** What the thread tells its process. */
export type FromRenewal =
  | { readonly type: 'started' | 'worked' }
  | { readonly type: 'lost'; readonly leases: readonly Lease[] }
  | { readonly type: 'failed'; readonly code: string; readonly message: string }
  | { readonly type: 'silent'; readonly silentMs: number };
