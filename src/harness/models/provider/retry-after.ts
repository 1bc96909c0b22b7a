/** The longest wait that is believed, milliseconds; beyond it the provider is as good as gone. */
const MAX_BELIEVED_MS = 24 * 60 * 60 * 1000;

/** Google's wait stands in the body: `"retryDelay": "34.07s"`. */
const RETRY_DELAY = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/;

/**
 * How long a provider asks to be left alone, milliseconds: `retry-after-ms`, else `Retry-After` in seconds or as a
 * date, else a `retryDelay` in the body. Undefined when it does not say, or says nothing that can be read.
 */
export function retryAfterMs(
  headers: Readonly<Record<string, unknown>>,
  body: string,
  nowMs: number = Date.now(),
): number | undefined {
  const asked = [
    numberOf(headers['retry-after-ms']),
    waitOf(headers['retry-after'], nowMs),
    toMs(numberOf(RETRY_DELAY.exec(body)?.[1])),
  ].find((ms) => ms !== undefined);
  return asked === undefined ? undefined : Math.min(MAX_BELIEVED_MS, Math.max(0, Math.round(asked)));
}

function waitOf(value: unknown, nowMs: number): number | undefined {
  const seconds = numberOf(value);
  if (seconds !== undefined) return toMs(seconds);
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isFinite(at) ? at - nowMs : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'string' && /^\s*-?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : undefined;
}

const toMs = (seconds: number | undefined): number | undefined => (seconds === undefined ? undefined : seconds * 1000);
