import { ProviderError } from '../../ports/chat-model.port.js';
import { retryAfterMs } from './retry-after.js';

/** What providers write when the request is longer than the model's context. */
const OVERFLOW =
  /prompt is too long|context.length|context_length_exceeded|maximum context|maximum input length|too many tokens|input_too_long|request_too_large|context window|input token count.{0,40}exceeds/i;

/** What servers write whose model reads no pictures; some of them answer 500. */
const NO_PICTURES =
  /image input is not supported|does not support images?\b(?!\/)|support image input|required for image input|not a multimodal model|at most 0 image|image_url is only supported by|unknown variant .{0,2}image_url|image input modality is not enabled/i;

/** Errors inside a stream have a name where a response has a status. */
const STATUS_OF_NAME: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  api_error: 500,
  server_error: 500,
  overloaded_error: 529,
};

/** Where providers write the id that their support asks for. */
const REQUEST_ID_HEADERS = ['x-request-id', 'request-id', 'x-tt-logid', 'x-ds-trace-id', 'x-goog-request-id'];

/** Longest error body that is looked at, characters. */
export const MAX_ERROR_CHARS = 65_536;

type Headers = Readonly<Record<string, unknown>>;

/**
 * The error of a response that is no success.
 * @param body its text, read only to tell faults apart; it never leaves
 */
export function httpError(status: number, headers: Headers, body: string): ProviderError {
  const requestId = requestIdOf(headers);
  const facts = { status, ...(requestId !== undefined && { requestId }) };
  if (OVERFLOW.test(body)) return overflow(facts);
  if (NO_PICTURES.test(body)) return noPictures(facts);
  const askedMs = retryAfterMs(headers, body);
  return new ProviderError(`the model answered ${status}`, 'http', {
    ...facts,
    retryable: isRetryable(status),
    ...(askedMs !== undefined && { retryAfterMs: askedMs }),
  });
}

/** The error that a provider reports inside a stream. */
export function reportedError(error: unknown): ProviderError {
  const text = JSON.stringify(error) ?? '';
  const status = statusOf(error);
  const facts = status === undefined ? {} : { status };
  if (OVERFLOW.test(text)) return overflow(facts);
  if (NO_PICTURES.test(text)) return noPictures(facts);
  if (status === undefined) return new ProviderError('the model reported an error', 'other', { retryable: true });
  return new ProviderError(`the model answered ${status}`, 'http', { status, retryable: isRetryable(status) });
}

/** What came is not what the wire prescribes. */
export function badFrame(cause: unknown): ProviderError {
  return new ProviderError('the model sent an unreadable answer', 'bad_frame', { retryable: true, cause });
}

/** An answer that stopped without its finish mark. */
export function cutError(cause?: unknown): ProviderError {
  return new ProviderError("the model's answer was cut off", 'cut', { retryable: true, cause });
}

/** The id under which the provider knows the request. */
export function requestIdOf(headers: Headers): string | undefined {
  const id = REQUEST_ID_HEADERS.map((name) => headers[name]).find((value) => typeof value === 'string');
  return id === undefined ? undefined : id.slice(0, 200);
}

interface Facts {
  readonly status?: number;
  readonly requestId?: string;
}

const overflow = (facts: Facts): ProviderError =>
  new ProviderError('the conversation is too long for the model', 'overflow', { ...facts, retryable: false });

const noPictures = (facts: Facts): ProviderError =>
  new ProviderError('the model in use cannot read pictures', 'no_pictures', { ...facts, retryable: false });

const isRetryable = (status: number): boolean => status === 408 || status === 429 || status >= 500;

function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { status, code, type } = error as { status?: unknown; code?: unknown; type?: unknown };
  const written = [status, code].map(Number).find((value) => Number.isInteger(value) && value >= 400 && value <= 599);
  return written ?? [type, code].map((name) => STATUS_OF_NAME[String(name)]).find((named) => named !== undefined);
}
