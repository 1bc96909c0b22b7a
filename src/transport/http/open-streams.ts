import { setMaxListeners } from 'node:events';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { AppError } from '../../common/app-error.js';
import { Config } from '../../config/config.js';
import { Metrics } from '../../observability/metrics.js';

/** Who may hold how many streams. Structural, because this folder knows no identity. */
export interface StreamOwner {
  readonly tenantId: string;
  readonly subject: string;
  readonly mode: string;
}

/** Room for one open stream. */
export interface StreamPlace {
  /** Aborts when the server shuts down. */
  readonly signal: AbortSignal;
  /** Gives the place back; once is enough, twice is fine. */
  release(): void;
}

const RETRY_AFTER_MS = 1000;
const GRACE_MS = 1000;

/** Counts the open streams of this process, over HTTP and gRPC, and ends them when it stops. */
@Injectable()
export class OpenStreams implements BeforeApplicationShutdown {
  private readonly shutdown = new AbortController();
  private readonly byOwner = new Map<string, number>();
  private readonly waiting = new Set<() => void>();
  private open = 0;

  constructor(
    private readonly config: Config,
    metrics: Metrics,
  ) {
    metrics.observeOpenObservers(() => this.open);
    // every open stream listens to it
    setMaxListeners(0, this.shutdown.signal);
  }

  /** Streams that are open now. */
  get size(): number {
    return this.open;
  }

  /** Aborts when the server stops; also what waits without a stream, as a long poll does, ends then. */
  get stopping(): AbortSignal {
    return this.shutdown.signal;
  }

  /** True once the process stops and takes no new stream. */
  get isClosing(): boolean {
    return this.shutdown.signal.aborted;
  }

  /**
   * Takes a place before the first byte of a stream, and before the call changes anything.
   * @param owner counted against `observers.maxPerPrincipal` unless everybody is the same caller (mode `none`)
   * @throws AppError `TOO_MANY_STREAMS` or `DRAINING`
   */
  reserve(owner?: StreamOwner): StreamPlace {
    if (this.isClosing) throw new AppError('DRAINING', 'the server is stopping', { retryAfterMs: RETRY_AFTER_MS });
    const { maxPerProcess, maxPerPrincipal } = this.config.observers;
    if (this.open >= maxPerProcess) throw tooMany(`the server has ${maxPerProcess} open streams`);
    const key = owner && owner.mode !== 'none' ? JSON.stringify([owner.tenantId, owner.subject]) : undefined;
    const own = key === undefined ? 0 : (this.byOwner.get(key) ?? 0);
    if (own >= maxPerPrincipal) throw tooMany(`the caller has ${maxPerPrincipal} open streams`);
    if (key !== undefined) this.byOwner.set(key, own + 1);
    this.open += 1;
    let isHeld = true;
    return {
      signal: this.shutdown.signal,
      release: () => {
        if (isHeld) this.giveBack(key);
        isHeld = false;
      },
    };
  }

  private giveBack(key: string | undefined): void {
    this.open -= 1;
    if (key !== undefined) {
      const left = (this.byOwner.get(key) ?? 1) - 1;
      if (left > 0) this.byOwner.set(key, left);
      else this.byOwner.delete(key);
    }
    if (this.open === 0) for (const resolve of this.waiting) resolve();
  }

  /** Ends every stream after its last frame; resolves when all are closed, at the latest after a second. */
  async beforeApplicationShutdown(): Promise<void> {
    this.shutdown.abort();
    if (this.open === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, GRACE_MS);
      this.waiting.add(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

function tooMany(fact: string): AppError {
  return new AppError('TOO_MANY_STREAMS', `${fact}, which is the limit`, { retryAfterMs: RETRY_AFTER_MS });
}
