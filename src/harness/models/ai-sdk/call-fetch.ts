import { badFrame, httpError } from '../provider/provider-faults.js';
import { isSuccess, type ProviderCall, type ProviderResponse } from '../provider/provider-call.js';

/** Largest answer of one call, bytes. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/**
 * The `fetch` that the SDK sends one request by: our own call, with its time limits and its way out. What fails in it
 * is kept here as it was, whatever the SDK makes of it.
 */
export class CallFetch {
  private failure: unknown;
  /** Set once the answer is whole: a connection that breaks or falls silent afterwards takes nothing away. */
  isWhole = false;

  constructor(private readonly call: ProviderCall) {}

  /** What went wrong on the way; undefined when it was not the way. */
  get fault(): unknown {
    return this.failure;
  }

  readonly fetch: typeof globalThis.fetch = async (url, init) => {
    try {
      const headers = Object.fromEntries(new Headers(init?.headers));
      const response = await this.call.post(
        url instanceof Request ? url.url : url.toString(),
        headers,
        init?.body as string,
      );
      if (!isSuccess(response)) {
        throw httpError(response.statusCode, response.headers, await this.call.text(response));
      }
      // The content type is what the SDK expects: a server that names another one sends the same frames.
      return new Response(this.bodyOf(response), { status: 200, headers: { 'content-type': 'text/event-stream' } });
    } catch (error) {
      this.failure ??= error;
      throw error;
    }
  };

  private bodyOf(response: ProviderResponse): ReadableStream<Uint8Array> {
    const pieces = this.call.pieces(response);
    let length = 0;
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      try {
        const piece = await pieces.next();
        if (piece.done === true) return controller.close();
        const { value } = piece;
        length += value.length;
        if (length > MAX_ANSWER_BYTES) throw badFrame(new Error(`more than ${MAX_ANSWER_BYTES} bytes`));
        controller.enqueue(value);
      } catch (error) {
        if (this.isWhole) return controller.close();
        this.failure ??= error;
        controller.error(error);
      }
    };
    const cancel = (): void => void pieces.return(undefined).catch(() => undefined);
    return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
  }
}
