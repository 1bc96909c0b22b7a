import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '../../common/app-error.js';

export interface BodyLimits {
  readonly maxBytes: number;
  /** Milliseconds from now until the last byte. */
  readonly timeoutMs: number;
}

/** Requests whose client waits for `100 Continue` before it sends its body. */
const awaitsContinue = new WeakSet<IncomingMessage>();

/** Holds the `100 Continue` back until somebody wants the body. */
export function deferContinue(request: IncomingMessage): void {
  awaitsContinue.add(request);
}

/** True when the request announces a body. */
export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && Number(length) > 0);
}

/** True when bytes of the body may still come, so that the connection cannot serve another request. */
export function isUnread(request: IncomingMessage): boolean {
  return hasBody(request) && !request.complete;
}

/** Tells a client that waits to send its body now. */
export function welcomeBody(request: IncomingMessage, response: ServerResponse): void {
  if (awaitsContinue.delete(request)) response.writeContinue();
}

/** @throws AppError `BODY_TOO_LARGE` when the announced length is above the limit; not a byte was read then */
export function checkAnnouncedLength(request: IncomingMessage, maxBytes: number): void {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

/**
 * All bytes of a body, counted as they come.
 * @throws AppError `BODY_TOO_LARGE`, `REQUEST_TIMEOUT`, or `INVALID_BODY` when the client went away
 */
export async function readBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  checkAnnouncedLength(request, limits.maxBytes);
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise<Buffer>((resolve, reject) => {
    const settle = (outcome: Buffer | AppError): void => {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      if (outcome instanceof AppError) {
        request.pause();
        // The parser reports what goes wrong with the rest of the body; nobody waits for it any more.
        request.on('error', () => undefined);
        reject(outcome);
      } else {
        resolve(outcome);
      }
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limits.maxBytes) settle(tooLarge(limits.maxBytes));
      else chunks.push(chunk);
    };
    const onEnd = (): void => settle(Buffer.concat(chunks, size));
    const onClose = (): void => settle(new AppError('INVALID_BODY', 'the client closed the connection'));
    const timer = setTimeout(
      () => settle(new AppError('REQUEST_TIMEOUT', `the body did not arrive within ${limits.timeoutMs} ms`)),
      limits.timeoutMs,
    );
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

function tooLarge(maxBytes: number): AppError {
  return new AppError('BODY_TOO_LARGE', `the body is larger than ${maxBytes} bytes`);
}
