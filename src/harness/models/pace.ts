import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits, and gives the event loop a turn even when there is nothing to wait for.
 * @param ms milliseconds; 0 = the next turn of the event loop
 * @throws the signal's reason as soon as it is aborted
 */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (ms <= 0) await new Promise<void>((resolve) => setImmediate(resolve));
  else await delay(ms, undefined, { signal }).catch(() => undefined);
  signal.throwIfAborted();
}

/**
 * The promise's value, unless the signal is aborted first.
 * @throws the signal's reason; the abandoned promise may fail unseen
 */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  promise.catch(() => undefined);
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
