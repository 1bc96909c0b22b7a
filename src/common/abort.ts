import { setTimeout as delay } from 'node:timers/promises';

const ignore = (): void => undefined;

/**
 * The work's result, or the signal's reason as soon as it is aborted. Work that ignores its signal is left behind:
 * its late result or error is dropped.
 */
export function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    work
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', onAbort))
      .catch(ignore);
  });
}

/**
 * The source's items until the signal is aborted, then a throw of its reason.
 * The source is told by its `return()`, which is not awaited: one that hangs must not hold the caller back.
 */
export async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  signal.throwIfAborted();
  const iterator = source[Symbol.asyncIterator]();
  let stopWaiting: (error: unknown) => void = ignore;
  const onAbort = (): void => stopWaiting(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const step = await new Promise<IteratorResult<T>>((resolve, reject) => {
        stopWaiting = reject;
        iterator.next().then(resolve, reject);
      });
      if (step.done === true) return;
      yield step.value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    void iterator.return?.().catch(ignore);
  }
}

/**
 * Waits, and gives the event loop a turn even when there is nothing to wait for.
 * @param ms milliseconds; 0 = the next turn of the event loop
 * @throws the signal's reason as soon as it is aborted
 */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (ms <= 0) await new Promise<void>((resolve) => setImmediate(resolve));
  else await delay(ms, undefined, { signal }).catch(ignore);
  signal.throwIfAborted();
}
