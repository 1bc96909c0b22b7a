import { HttpException } from '@nestjs/common';
import { AppError } from '../../common/app-error.js';
import type { Reason } from '../../common/reasons.js';

/** How the web framework's own refusals are called here. */
const REASON_OF_STATUS: Readonly<Record<number, Reason>> = {
  400: 'INVALID_BODY',
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'ROUTE_NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  406: 'NOT_ACCEPTABLE',
  408: 'REQUEST_TIMEOUT',
  413: 'BODY_TOO_LARGE',
  414: 'ID_INVALID',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  429: 'RATE_LIMITED',
};

/** Framework errors whose own text quotes the request. */
const SAFE_TEXT: Readonly<Record<string, string>> = {
  FST_ERR_BAD_URL: 'the path is not valid percent-encoded UTF-8',
  FST_ERR_MAX_PARAM_LENGTH: 'a part of the path is too long',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'the Content-Type header is malformed',
};

/**
 * Any thrown value as an AppError. What the web framework refused keeps its meaning; everything unknown becomes
 * `INTERNAL` with a text that tells nothing.
 */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const cause = error instanceof HttpException ? (error.cause ?? error) : error;
  const code = codeOf(cause);
  if (code === 'FST_REQ_FILE_TOO_LARGE') {
    return new AppError('IMAGE_TOO_LARGE', 'the file is larger than a picture may be', { cause });
  }
  const status = error instanceof HttpException ? error.getStatus() : frameworkStatus(error);
  const reason = status === undefined ? undefined : REASON_OF_STATUS[status];
  if (reason === undefined) return AppError.from(error);
  return new AppError(reason, SAFE_TEXT[code ?? ''] ?? textOf(reason), { cause });
}

function textOf(reason: Reason): string {
  return reason === 'ROUTE_NOT_FOUND' ? 'no such route' : reason.toLowerCase().replaceAll('_', ' ');
}

function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

function frameworkStatus(error: unknown): number | undefined {
  const isFramework = error instanceof Error && codeOf(error)?.startsWith('FST_') === true;
  return isFramework && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : undefined;
}
