import { Agent, request, type Dispatcher } from 'undici';
import { AddressRules, type AddressLists } from './address-rules.js';
import { checkedUrl } from './checked-url.js';
import { BlockedAddressError, guardedConnector, resolveBySystem, type ResolveAddresses } from './guarded-connector.js';
import { OutgoingError } from './outgoing-error.js';

/** Section `fetch` of the configuration. */
export interface FetchSettings extends AddressLists {
  /** From the first look-up to the last byte, redirects included; milliseconds. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** What one fetch may ask for, within the settings. */
export interface FetchOptions {
  /** Sent to the origin of the URL only; a redirect to another origin gets none of them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default and ceiling `fetch.maxBytes`. */
  readonly maxBytes?: number;
  /** Default and ceiling `fetch.timeoutMs`. */
  readonly timeoutMs?: number;
}

const MAX_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The one way out to URLs that callers name; private addresses are out of reach. */
export class OutgoingFetch {
  private readonly agent: Agent;

  constructor(
    private readonly settings: FetchSettings,
    resolveAddresses: ResolveAddresses = resolveBySystem,
  ) {
    const connect = guardedConnector(new AddressRules(settings), resolveAddresses, settings.timeoutMs);
    this.agent = new Agent({ connect, keepAliveTimeout: 1000, connections: 16 });
  }

  /**
   * Gets the bytes at a URL. Each hop is checked; at most 3 redirects.
   * @throws OutgoingError when it does not work; the signal's reason when that aborts
   */
  async fetchBytes(url: string, options: FetchOptions, signal: AbortSignal): Promise<Uint8Array> {
    const first = checkedUrl(url);
    const maxBytes = Math.min(options.maxBytes ?? Infinity, this.settings.maxBytes);
    const timeout = AbortSignal.timeout(Math.min(options.timeoutMs ?? Infinity, this.settings.timeoutMs));
    try {
      return await this.follow(first, options.headers ?? {}, maxBytes, AbortSignal.any([signal, timeout]));
    } catch (error) {
      signal.throwIfAborted();
      throw toOutgoingError(error, timeout.aborted);
    }
  }

  /** Closes idle connections and ends open ones. */
  async close(): Promise<void> {
    await this.agent.destroy();
  }

  private async follow(
    first: URL,
    headers: Readonly<Record<string, string>>,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    let url = first;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const own = url.origin === first.origin ? headers : {};
      const response = await request(url, {
        dispatcher: this.agent,
        headers: { 'user-agent': 'bridle', 'accept-encoding': 'identity', ...own },
        signal,
      });
      const next = nextUrl(response, url);
      if (next === undefined) return readBody(response, maxBytes);
      discard(response);
      // once a hop left the origin, coming back must not bring the headers out again
      if (next.origin !== first.origin) headers = {};
      url = next;
    }
    throw OutgoingError.notFetched('bad_status', new Error(`more than ${MAX_REDIRECTS} redirects`));
  }
}

function nextUrl(response: Dispatcher.ResponseData, from: URL): URL | undefined {
  const location = response.headers.location;
  if (!REDIRECTS.has(response.statusCode) || typeof location !== 'string') return undefined;
  try {
    return checkedUrl(location, from);
  } catch (error) {
    discard(response);
    throw OutgoingError.notFetched('blocked', error);
  }
}

async function readBody(response: Dispatcher.ResponseData, maxBytes: number): Promise<Uint8Array> {
  if (response.statusCode < 200 || response.statusCode > 299) {
    discard(response);
    throw OutgoingError.notFetched('bad_status', new Error(`status ${response.statusCode}`));
  }
  if (Number(response.headers['content-length']) > maxBytes) {
    discard(response);
    throw OutgoingError.tooLarge(maxBytes);
  }
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw OutgoingError.tooLarge(maxBytes); // leaving the loop closes the connection
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

/** Closes the connection of a body that nobody will read; a failure of that body is of no interest any more. */
function discard(response: Dispatcher.ResponseData): void {
  response.body.on('error', () => undefined).destroy();
}

function toOutgoingError(error: unknown, isTimeout: boolean): OutgoingError {
  if (error instanceof OutgoingError) return error;
  if (error instanceof BlockedAddressError) return OutgoingError.notFetched('blocked', error);
  return OutgoingError.notFetched(isTimeout || isTimeoutError(error) ? 'timeout' : 'unreachable', error);
}

const isTimeoutError = (error: unknown): boolean => /TIMEOUT/.test(String((error as { code?: unknown }).code));
