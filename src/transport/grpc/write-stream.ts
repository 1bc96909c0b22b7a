import { once } from 'node:events';
import type { ServerWritableStream } from '@grpc/grpc-js';
import { Observable } from 'rxjs';
import { AppError } from '../../common/app-error.js';
import type { StreamPlace } from '../http/open-streams.js';

/** A server stream whose messages are made only as fast as the caller reads them. */
export interface StreamSource<Message> {
  /** Room for the stream, taken before anything else. */
  reserve(): StreamPlace;
  /**
   * The messages. The iterator is always closed, so it may tidy up in `finally`.
   * @param gone aborts when the caller has gone, never after a normal end
   * @param signal aborts when the caller has gone or the server stops
   */
  open(gone: AbortSignal, signal: AbortSignal): AsyncIterable<Message>;
}

/**
 * Writes the messages to the call and waits whenever the transport's buffer is full. Nothing is emitted through the
 * Observable, whose own queue has no limit; it starts the work, ends the call and tells of errors: those of the
 * source, and `DRAINING` when the server stops.
 */
export function writeStream<Message>(
  call: ServerWritableStream<unknown, Message>,
  source: StreamSource<Message>,
): Observable<never> {
  return new Observable<never>((out) => {
    const gone = new AbortController();
    // The transport calls a call cancelled after its normal end too.
    let isFinished = false;
    const finish = (end: () => void): void => {
      isFinished = true;
      end();
    };
    pump(call, source, gone.signal).then(
      () => finish(() => out.complete()),
      (error: unknown) => finish(() => out.error(error)),
    );
    return () => {
      if (!isFinished) gone.abort();
    };
  });
}

async function pump<Message>(
  call: ServerWritableStream<unknown, Message>,
  source: StreamSource<Message>,
  gone: AbortSignal,
): Promise<void> {
  const place = source.reserve();
  try {
    await writeAll(call, source, gone, AbortSignal.any([gone, place.signal]));
  } finally {
    place.release();
  }
  if (place.signal.aborted) throw new AppError('DRAINING', 'the server is stopping');
}

async function writeAll<Message>(
  call: ServerWritableStream<unknown, Message>,
  source: StreamSource<Message>,
  gone: AbortSignal,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const message of source.open(gone, signal)) {
      if (signal.aborted) return;
      if (!call.write(message)) await once(call, 'drain', { signal });
    }
  } catch (error) {
    // Whoever aborted knows why the source gave up.
    if (!signal.aborted) throw error;
  }
}
