import { Rounds } from '../rounds.js';
import type { Lease } from '../run.js';
import { LeaseList } from './lease-list.js';
import type { FromRenewal, RenewalStart, ToRenewal } from './renewal-messages.js';

/** After a failed round the next try comes soon: leases go on expiring, milliseconds. */
const RETRY_MS = 1000;

/** Renews, and says which leases somebody else has taken. */
export interface RenewsLeases {
  renew(leases: readonly Lease[]): Promise<readonly Lease[]>;
  close(): void;
}

/** The work of the renewal thread: the leases of its process, as long as the process gives signs of life. */
export class LeaseRenewer {
  private readonly leases: LeaseList;
  private readonly rounds: Rounds;
  private heardAtMs: number;
  private isSilent = false;

  /** @param nowMs a clock that only goes forward */
  constructor(
    private readonly store: RenewsLeases,
    private readonly start: RenewalStart,
    private readonly tell: (message: FromRenewal) => void,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.leases = new LeaseList(start.leases);
    this.heardAtMs = nowMs();
    const failures = {
      failed: (error: unknown) => tell({ type: 'failed', ...wordsOf(error) }),
      worked: () => tell({ type: 'worked' }),
    };
    this.rounds = new Rounds(() => this.renew(), failures, { everyMs: start.heartbeatMs, retryMs: RETRY_MS });
    this.rounds.start();
  }

  /** Obeys the process. */
  hear(message: ToRenewal): void {
    this.heardAtMs = this.nowMs();
    this.isSilent = false;
    switch (message.type) {
      case 'add':
        this.leases.add(message.lease);
        return;
      case 'remove':
        this.leases.remove(message.lease);
        return;
      case 'alive':
        return;
      case 'stop':
        this.rounds.stop();
        this.store.close();
        return;
    }
  }

  /** One round now; never rejects. */
  round(): Promise<void> {
    return this.rounds.now();
  }

  private async renew(): Promise<void> {
    if (this.leases.size === 0 || this.isProcessSilent()) return;
    const lost = (await this.store.renew(this.leases.all())).filter((lease) => this.leases.remove(lease));
    if (lost.length > 0) this.tell({ type: 'lost', leases: lost });
  }

  /** A process that is wedged for good must not hold its runs for ever. */
  private isProcessSilent(): boolean {
    const silentMs = this.nowMs() - this.heardAtMs;
    if (silentMs <= this.start.silenceMs) return false;
    if (!this.isSilent) this.tell({ type: 'silent', silentMs: Math.round(silentMs) });
    this.isSilent = true;
    return true;
  }
}

function wordsOf(error: unknown): { code: string; message: string } {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return { code: typeof code === 'string' ? code : 'UNKNOWN', message: typeof message === 'string' ? message : '' };
}
