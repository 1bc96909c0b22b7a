import { AppError } from '../common/app-error.js';
import { checkId } from '../common/id-rules.js';
import { checkedUrl } from '../outgoing/checked-url.js';
import { OutgoingError } from '../outgoing/outgoing-error.js';
import type { PictureInput, PreparedPicture } from './pictures.types.js';

/** An input whose id and URL are good; bytes are not looked at yet. */
export type CheckedInput = Exclude<PreparedPicture, { kind: 'bytes' }> | Extract<PictureInput, { kind: 'bytes' }>;

/** @throws AppError `ID_INVALID`, `RESOURCE_INVALID` with `details.index` */
export function checkInput(input: PictureInput, index: number): CheckedInput {
  const { resourceId } = input;
  try {
    if (resourceId !== undefined) checkId('resource', 'resource_id', resourceId);
    return input.kind === 'url' ? { kind: 'url', resourceId, url: checkedUrl(input.url) } : input;
  } catch (error) {
    throw atPicture(index, error);
  }
}

/** The error with the place of its picture in the message, from 0. */
export function atPicture(index: number, error: unknown): unknown {
  if (error instanceof OutgoingError) {
    return new AppError('RESOURCE_INVALID', `picture ${index}: ${error.message}`, { details: { index }, cause: error });
  }
  if (!(error instanceof AppError)) return error;
  const details = { ...error.details, index };
  return new AppError(error.reason, `picture ${index}: ${error.message}`, { details, cause: error });
}

/** Why the picture behind a URL could not be had, named by its id; an abort stays what it is. */
export function toFetchError(error: unknown, resourceId: string): unknown {
  const message = error instanceof Error ? `picture ${resourceId}: ${error.message}` : '';
  if (error instanceof OutgoingError) {
    const reason = error.kind === 'too_large' ? 'IMAGE_TOO_LARGE' : 'IMAGE_UNREACHABLE';
    return new AppError(reason, message, { details: { resource_id: resourceId }, cause: error });
  }
  if (!(error instanceof AppError)) return error;
  return new AppError(error.reason, message, { details: { ...error.details, resource_id: resourceId }, cause: error });
}
