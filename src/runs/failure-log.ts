import type { Logger } from '../observability/logger.js';

/** Hears how something goes that is tried again and again. */
export interface Failures {
  failed(error: unknown): void;
  worked(): void;
}

/**
 * Tells of an outage once at its start and once at its end, not at each try between; a failure of another kind in
 * the middle of it is told too.
 */
export class FailureLog implements Failures {
  private outage: { readonly sinceMs: number; kind: string; tries: number } | undefined;

  /** @param what the sentence that is logged, e.g. `the reaper could not finish its round` */
  constructor(
    private readonly logger: Logger,
    private readonly what: string,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  failed(error: unknown): void {
    const kind = kindOf(error);
    const isNews = this.outage?.kind !== kind;
    this.outage = { sinceMs: this.outage?.sinceMs ?? this.nowMs(), kind, tries: (this.outage?.tries ?? 0) + 1 };
    if (isNews) this.logger.warn(this.what, { error });
  }

  worked(): void {
    if (this.outage === undefined) return;
    const { sinceMs, tries } = this.outage;
    this.outage = undefined;
    this.logger.info(`over: ${this.what}`, { tries, outageMs: Math.round(this.nowMs() - sinceMs) });
  }
}

function kindOf(error: unknown): string {
  const { reason, code, message } = (error ?? {}) as { reason?: unknown; code?: unknown; message?: unknown };
  return String(reason ?? code ?? message ?? error);
}
