import { ProviderError } from '../../ports/chat-model.port.js';

/** Aborts a provider's request when the caller does, or when it stays silent for too long. */
export class Watchdog {
  private readonly silence = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  /** Aborted by the caller, by silence or by {@link stop}. */
  readonly signal: AbortSignal;

  constructor(caller: AbortSignal) {
    this.signal = AbortSignal.any([caller, this.silence.signal]);
  }

  /** Starts to count: after `ms` milliseconds without {@link rest} the request is aborted. */
  watch(ms: number): void {
    clearTimeout(this.timer);
    const late = (): void =>
      this.silence.abort(new ProviderError('the model did not answer in time', 'timeout', { retryable: true }));
    this.timer = setTimeout(late, ms);
  }

  /** Stops counting. */
  rest(): void {
    clearTimeout(this.timer);
  }

  /** Ends the request, and the counting with it. */
  stop(): void {
    this.rest();
    this.silence.abort(new Error('the answer is no longer read'));
  }

  /** The time-out that ended the request; undefined when it did not. */
  get timeout(): ProviderError | undefined {
    const reason: unknown = this.silence.signal.reason;
    return reason instanceof ProviderError ? reason : undefined;
  }
}
