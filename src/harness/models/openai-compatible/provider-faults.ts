import { ProviderError } from '../../ports/chat-model.port.js';

/** What providers write when the request is longer than the model's context. */
const OVERFLOW =
  /prompt is too long|context.length|context_length_exceeded|maximum context|maximum input length|too many tokens|input_too_long|request_too_large|context window/i;

/** What servers write whose model reads no pictures; some of them answer 500. */
const NO_PICTURES =
  /image input is not supported|does not support images?\b(?!\/)|support image input|required for image input|not a multimodal model|at most 0 image|image_url is only supported by|unknown variant .{0,2}image_url/i;

/** Longest error body that is looked at, bytes. */
export const MAX_ERROR_BYTES = 65_536;

/**
 * The error of a response that is no success.
 * @param body its text, read only to tell faults apart; it never leaves
 */
export function httpError(status: number, headers: Record<string, unknown>, body: string): ProviderError {
  if (OVERFLOW.test(body)) return overflow(status);
  if (NO_PICTURES.test(body)) return noPictures(status);
  const retryAfterMs = retryAfter(headers);
  return new ProviderError(`the model answered ${status}`, 'http', {
    status,
    retryable: isRetryable(status),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/** The error that a provider reports inside a stream. */
export function reportedError(error: unknown): ProviderError {
  const text = JSON.stringify(error);
  const status = statusOf(error);
  if (OVERFLOW.test(text)) return overflow(status);
  if (NO_PICTURES.test(text)) return noPictures(status);
  if (status !== undefined) {
    return new ProviderError(`the model answered ${status}`, 'http', { status, retryable: isRetryable(status) });
  }
  return new ProviderError('the model reported an error', 'other', { retryable: true });
}

const overflow = (status: number | undefined): ProviderError =>
  new ProviderError('the conversation is too long for the model', 'overflow', {
    ...(status !== undefined && { status }),
    retryable: false,
  });

const noPictures = (status: number | undefined): ProviderError =>
  new ProviderError('the model in use cannot read pictures', 'no_pictures', {
    ...(status !== undefined && { status }),
    retryable: false,
  });

const isRetryable = (status: number): boolean => status === 408 || status === 429 || status >= 500;

function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { status, code } = error as { status?: unknown; code?: unknown };
  return [status, code].map(Number).find((value) => Number.isInteger(value) && value >= 400 && value <= 599);
}

/** `Retry-After` (seconds or a date) or `retry-after-ms`, in milliseconds. */
function retryAfter(headers: Record<string, unknown>): number | undefined {
  const exactMs = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(exactMs)) return Math.max(0, exactMs);
  const value = headers['retry-after'];
  if (typeof value !== 'string') return undefined;
  const seconds = Number(value);
  const waitMs = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(waitMs) ? Math.max(0, Math.round(waitMs)) : undefined;
}
