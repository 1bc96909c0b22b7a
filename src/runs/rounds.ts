import type { Failures } from './failure-log.js';

/** A wait is this much shorter at most than it is said to be, so that processes do not keep step. */
const JITTER = 0.2;

export interface RoundsOptions {
  /** From the end of a round to the start of the next one at most, milliseconds. */
  readonly everyMs: number;
  /** The same after a round that failed, milliseconds; default `everyMs`. */
  readonly retryMs?: number;
  /** From 0 to 1; default `Math.random`. */
  readonly random?: () => number;
}

/** Work that is repeated, one round at a time. A round that fails is told to the log and tried again. */
export class Rounds {
  private timer: NodeJS.Timeout | undefined;
  private current: Promise<boolean> | undefined;
  private isStopped = false;

  constructor(
    private readonly work: () => Promise<void>,
    private readonly failures: Failures,
    private readonly options: RoundsOptions,
  ) {}

  /** The first round comes after the first wait. The timer does not keep the process alive. */
  start(): void {
    this.isStopped = false;
    this.plan(this.options.everyMs);
  }

  /** No round begins any more by itself; one that is under way goes on, and what fails in it is nobody's business. */
  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  /** One round now, or the one that is under way; never rejects. */
  async now(): Promise<void> {
    await this.once();
  }

  private once(): Promise<boolean> {
    this.current ??= this.round().finally(() => {
      this.current = undefined;
    });
    return this.current;
  }

  private async round(): Promise<boolean> {
    try {
      await this.work();
    } catch (error) {
      if (!this.isStopped) this.failures.failed(error);
      return false;
    }
    this.failures.worked();
    return true;
  }

  private plan(waitMs: number): void {
    clearTimeout(this.timer);
    const { everyMs, retryMs = everyMs, random = Math.random } = this.options;
    this.timer = setTimeout(
      () => {
        void this.once().then((hasWorked) => {
          if (!this.isStopped) this.plan(hasWorked ? everyMs : Math.min(retryMs, everyMs));
        });
      },
      waitMs * (1 - JITTER * random()),
    );
    this.timer.unref();
  }
}
