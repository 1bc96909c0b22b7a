import type { ProviderError } from '../ports/chat-model.port.js';

/** The longest random wait, milliseconds. */
const MAX_JITTER_MS = 30_000;

/** A provider that asks for more patience than this is not asked again, milliseconds. */
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * How long to wait before a model call is tried again, milliseconds: full jitter, at least what the provider asked for.
 * @param failedAttempts attempts so far, from 1
 * @returns undefined when trying again makes no sense
 */
export function retryDelayMs(
  error: ProviderError,
  failedAttempts: number,
  limits: { readonly modelAttempts: number; readonly retryBaseMs: number },
  random: () => number = Math.random,
): number | undefined {
  const askedMs = error.options.retryAfterMs ?? 0;
  if (!error.options.retryable || failedAttempts >= limits.modelAttempts || askedMs > MAX_RETRY_AFTER_MS)
    return undefined;
  const ceilingMs = Math.min(MAX_JITTER_MS, limits.retryBaseMs * 2 ** (failedAttempts - 1));
  return Math.max(askedMs, Math.round(random() * ceilingMs));
}
