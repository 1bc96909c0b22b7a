import { ProviderError } from '../../ports/chat-model.port.js';

/** Aborts a provider's request when the caller does, or when it stays silent for too long. */
export class Watchdog {
  private readonly request = new AbortController();
  private readonly onAbort = (): void => this.end(this.caller.reason);
  private timer: NodeJS.Timeout | undefined;
  private timerMs = 0;
  private isWatching = false;
  private silence: ProviderError | undefined;

  constructor(private readonly caller: AbortSignal) {
    if (caller.aborted) this.onAbort();
    else caller.addEventListener('abort', this.onAbort, { once: true });
  }

  /** Aborted by the caller, by silence or by {@link stop}. */
  get signal(): AbortSignal {
    return this.request.signal;
  }

  /** Starts to count: after `ms` milliseconds without {@link rest} the request is aborted. */
  watch(ms: number): void {
    this.isWatching = true;
    if (this.timer !== undefined && this.timerMs === ms) {
      this.timer.refresh();
      return;
    }
    clearTimeout(this.timer);
    this.timerMs = ms;
    this.timer = setTimeout(() => this.onSilence(), ms);
  }

  /** Lets a wait that is going on end after `ms` milliseconds. */
  shorten(ms: number): void {
    if (this.isWatching) this.watch(ms);
  }

  /** Stops counting. The timer stays for the next {@link watch}: one a piece would be dear. */
  rest(): void {
    this.isWatching = false;
  }

  /** Lets go of the caller; the request may go on without it. */
  release(): void {
    this.rest();
    clearTimeout(this.timer);
    this.timer = undefined;
    this.caller.removeEventListener('abort', this.onAbort);
  }

  /** Ends the request, and the counting with it. */
  stop(): void {
    this.release();
    this.end(new Error('the answer is no longer read'));
  }

  /** The time-out that ended the request; undefined when it did not. */
  get timeout(): ProviderError | undefined {
    return this.silence;
  }

  private onSilence(): void {
    this.timer = undefined;
    if (!this.isWatching) return;
    this.silence = new ProviderError('the model did not answer in time', 'timeout', { retryable: true });
    this.end(this.silence);
  }

  private end(reason: unknown): void {
    if (!this.request.signal.aborted) this.request.abort(reason);
  }
}
