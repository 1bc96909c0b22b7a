import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Readable } from 'node:stream';
import { request as send, type Dispatcher } from 'undici';
import { ProviderError } from '../../ports/chat-model.port.js';
import { badFrame, cutError, MAX_ERROR_CHARS, requestIdOf } from './provider-faults.js';
import { Watchdog } from './watchdog.js';

/** After the end mark the connection is read empty for so long, so that it can be used again, milliseconds. */
const DRAIN_MS = 1000;
const DRAIN_BYTES = 1024 * 1024;

/** Longest wait for the rest of an answer whose finish mark came: the tokens it took, the end mark; milliseconds. */
const SETTLE_MS = 5000;

/** How a provider is reached, and how long it may be silent. */
export interface ProviderLink {
  readonly dispatcher: Dispatcher;
  /** Longest wait from the request to the first byte of the answer, milliseconds. */
  readonly firstByteMs: number;
  /** Longest silence inside an answer, milliseconds. */
  readonly idleMs: number;
}

export type ProviderResponse = Dispatcher.ResponseData;

/** One request to a provider and its answer: both time limits, the caller's abort, the end of the connection. */
export class ProviderCall {
  private readonly watchdog: Watchdog;
  private response: ProviderResponse | undefined;
  private patienceMs: number;

  constructor(
    private readonly link: ProviderLink,
    private readonly caller: AbortSignal,
  ) {
    this.watchdog = new Watchdog(caller);
    this.patienceMs = link.idleMs;
  }

  /** Aborted by the caller, by silence and by {@link close}. */
  get signal(): AbortSignal {
    return this.watchdog.signal;
  }

  /** Sends a JSON body; the answer may be a refusal. */
  async post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<ProviderResponse> {
    this.signal.throwIfAborted();
    this.watchdog.watch(this.link.firstByteMs);
    const response = await send(url, {
      dispatcher: this.link.dispatcher,
      method: 'POST',
      headers,
      body,
      signal: this.signal,
      // The watchdog is finer than undici's own timers.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    // Whoever reads the body hears of its errors; one that nobody reads must not end the process.
    response.body.on('error', ignore);
    this.response = response;
    return response;
  }

  /**
   * The body piece by piece, unpacked; silence counts only while a piece is waited for.
   * @throws ProviderError `bad_frame` for a web page: some proxies answer 200 with one
   */
  async *pieces(response: ProviderResponse): AsyncGenerator<Uint8Array> {
    if (isSuccess(response) && headerOf(response, 'content-type').includes('text/html')) {
      throw badFrame(new Error('the answer is a web page'));
    }
    for await (const bytes of bodyOf(response)) {
      this.watchdog.rest();
      yield bytes;
      this.watchdog.watch(this.patienceMs);
    }
    this.watchdog.rest();
  }

  /** The body as text, cut at `maxChars`. */
  async text(response: ProviderResponse, maxChars: number = MAX_ERROR_CHARS): Promise<string> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const bytes of this.pieces(response)) {
      text += decoder.decode(bytes, { stream: true });
      if (text.length >= maxChars) break;
    }
    return (text + decoder.decode()).slice(0, maxChars);
  }

  /** The answer is whole: what may still come is waited for only a moment. */
  settle(): void {
    if (this.patienceMs <= SETTLE_MS) return;
    this.patienceMs = SETTLE_MS;
    this.watchdog.shorten(SETTLE_MS);
  }

  /** Ends the call. With `isEnded` the answer is over and its connection may be used again, else it is closed. */
  close(isEnded: boolean): void {
    const body = this.response?.body;
    if (!isEnded || body === undefined || this.isPacked) {
      this.watchdog.stop();
      return;
    }
    this.watchdog.release();
    if (body.readableEnded) return;
    const tooLate = setTimeout(() => this.watchdog.stop(), DRAIN_MS).unref();
    body
      .dump({ limit: DRAIN_BYTES })
      .catch(ignore)
      .finally(() => clearTimeout(tooLate));
  }

  /**
   * What a failure of this call means.
   * @throws the caller's reason when that was aborted
   */
  toProviderError(error: unknown): ProviderError {
    this.caller.throwIfAborted();
    const fault = this.faultOf(error);
    const requestId = this.response && requestIdOf(this.response.headers);
    if (requestId === undefined || fault.options.requestId !== undefined) return fault;
    return new ProviderError(fault.message, fault.fault, { ...fault.options, requestId });
  }

  private get isPacked(): boolean {
    return this.response !== undefined && headerOf(this.response, 'content-encoding') !== '';
  }

  private faultOf(error: unknown): ProviderError {
    if (error instanceof ProviderError) return error;
    if (this.watchdog.timeout !== undefined) return this.watchdog.timeout;
    if (this.response !== undefined) return cutError(error);
    return new ProviderError('the model could not be reached', 'connection', { retryable: true, cause: error });
  }
}

export const isSuccess = ({ statusCode }: ProviderResponse): boolean => statusCode >= 200 && statusCode < 300;

/** A header in lower case; empty when it is missing. */
export const headerOf = (response: ProviderResponse, name: string): string =>
  String(response.headers[name] ?? '').toLowerCase();

/** Servers pack answers although nobody asked them to. */
function bodyOf(response: ProviderResponse): AsyncIterable<Uint8Array> {
  const { body } = response;
  const packing = headerOf(response, 'content-encoding');
  if (packing === 'gzip' || packing === 'x-gzip') return unpacked(body, createGunzip());
  if (packing === 'br') return unpacked(body, createBrotliDecompress());
  if (packing === 'deflate') return unpacked(body, createInflate());
  return body.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
}

function unpacked(body: Readable, unpacker: ReturnType<typeof createGunzip>): AsyncIterable<Uint8Array> {
  body.on('error', (error) => unpacker.destroy(error));
  unpacker.on('error', ignore);
  return body.pipe(unpacker);
}

const ignore = (): void => undefined;
