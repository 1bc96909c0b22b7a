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
  const iterator = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      const step = await abortable(iterator.next(), signal);
      if (step.done === true) return;
      yield step.value;
    }
  } finally {
    void iterator.return?.().catch(ignore);
  }
}

/** Waits `delayMs` milliseconds, or throws the signal's reason as soon as it is aborted. */
export async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, delayMs);
  });
  try {
    await abortable(elapsed, signal);
  } finally {
    clearTimeout(timer);
  }
}
