import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { OpenStreams, StreamOwner, StreamPlace } from './open-streams.js';

export interface SseOptions {
  /** Further response headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A comment goes out after this many milliseconds of silence; 0 = never. */
  readonly pingMs: number;
  readonly registry: OpenStreams;
  /** Who reads; counted when no place was reserved before. */
  readonly owner?: StreamOwner;
  /** A place that was reserved before the call changed anything; the stream gives it back. */
  readonly place?: StreamPlace;
}

const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};

/** How much is joined into one write, characters. */
const LARGEST_PIECE = 16 * 1024;

const PING = ': ping\n\n';
/** How long an ended stream may take to hand its last bytes to a slow reader, milliseconds. */
const FLUSH_MS = 30_000;
/** The same when the server stops. */
const SHUTDOWN_FLUSH_MS = 500;

/**
 * Writes one event stream as fast as its reader takes it, and no faster: at most one frame waits beyond the
 * socket's own buffer. Opened only after every check, because from here on the status is 200.
 */
export class SseStream {
  private readonly abort = new AbortController();
  private readonly raw: ServerResponse;
  private readonly writers = new Set<() => void>();
  private pingTimer: NodeJS.Timeout | undefined;
  private hasEnded = false;
  private isGone = false;

  /**
   * Sends the head and takes over the response.
   * @throws AppError `TOO_MANY_STREAMS` or `DRAINING`, before any byte
   */
  static open(reply: FastifyReply, options: SseOptions): SseStream {
    const place = options.place ?? options.registry.reserve(options.owner);
    return new SseStream(reply, options, place);
  }

  private constructor(
    reply: FastifyReply,
    private readonly options: SseOptions,
    private readonly place: StreamPlace,
  ) {
    reply.hijack();
    this.raw = reply.raw;
    this.raw.once('close', this.onClose);
    this.raw.on('drain', this.onDrain);
    // A write that meets a connection just closed reports here what `close` says anyway.
    this.raw.on('error', this.onClose);
    place.signal.addEventListener('abort', this.onShutdown, { once: true });
    if (this.raw.destroyed || this.raw.socket?.destroyed === true) {
      this.onClose();
      return;
    }
    this.raw.writeHead(200, { ...(reply.getHeaders() as OutgoingHttpHeaders), ...SSE_HEADERS, ...options.headers });
    this.raw.flushHeaders();
    this.armPing();
    if (place.signal.aborted) this.onShutdown();
  }

  /** Aborts when the reader went away or the server stops: read no further. */
  get signal(): AbortSignal {
    return this.abort.signal;
  }

  /** True when the reader closed the connection before the stream ended. */
  get isClientGone(): boolean {
    return this.isGone;
  }

  /**
   * Writes one whole frame, blank line included, in one piece.
   * @returns when the next frame may follow; at once, writing nothing, after the stream was aborted
   */
  async send(frame: string): Promise<void> {
    if (this.hasEnded || this.abort.signal.aborted) return;
    this.pingTimer?.refresh();
    if (!this.raw.write(frame)) await new Promise<void>((resolve) => this.writers.add(resolve));
  }

  /** Writes frames that are there at the same moment in as few pieces as it can: a write is what costs. */
  async sendAll(frames: readonly string[]): Promise<void> {
    for (let piece = '', next = 0; next < frames.length; piece = '') {
      do piece += frames[next++]!;
      while (next < frames.length && piece.length + frames[next]!.length <= LARGEST_PIECE);
      await this.send(piece);
    }
  }

  /**
   * Ends the response; resolves when the reader has it all, or no longer takes it.
   * @param lastFrame goes out before the end, also when the server stops
   */
  async end(lastFrame?: string): Promise<void> {
    if (!this.beginEnd()) return;
    await new Promise<void>((resolve) => {
      const limit = this.place.signal.aborted ? SHUTDOWN_FLUSH_MS : FLUSH_MS;
      const timer = setTimeout(() => this.raw.destroy(), limit);
      const done = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.raw.once('close', done);
      this.raw.once('finish', done);
      this.raw.end(lastFrame);
    });
    this.place.release();
  }

  /** Breaks the connection off, so that the reader knows that more was to come and asks again. */
  breakOff(): void {
    if (this.beginEnd()) this.raw.destroy();
    this.place.release();
  }

  /** @returns false when there is nothing left to end */
  private beginEnd(): boolean {
    if (this.hasEnded) return false;
    this.hasEnded = true;
    this.stopPing();
    this.place.signal.removeEventListener('abort', this.onShutdown);
    if (!this.isGone) return true;
    this.place.release();
    return false;
  }

  private readonly onClose = (): void => {
    if (!this.hasEnded) this.isGone = true;
    this.stopPing();
    this.place.release();
    this.abort.abort(new Error('the client closed the connection'));
    this.wake();
  };

  private readonly onShutdown = (): void => {
    this.abort.abort(new Error('the server is stopping'));
    this.wake();
  };

  private readonly onDrain = (): void => this.wake();

  private wake(): void {
    for (const resolve of this.writers) resolve();
    this.writers.clear();
  }

  /** Each frame puts the next ping off. */
  private armPing(): void {
    const { pingMs } = this.options;
    if (pingMs <= 0 || this.abort.signal.aborted) return;
    this.pingTimer = setInterval(() => this.ping(), pingMs).unref();
  }

  /** A reader that takes nothing has no use for pings. */
  private ping(): void {
    if (this.writers.size === 0) void this.send(PING);
  }

  private stopPing(): void {
    clearInterval(this.pingTimer);
  }
}
