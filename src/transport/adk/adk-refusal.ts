import { AppError } from '../../common/app-error.js';
import type { HttpFailure } from '../http/dialect-errors.js';

/** A bad request whose answer is already in the dialect's shape. */
export class AdkRefusal extends AppError {
  constructor(
    readonly failure: HttpFailure,
    message: string,
  ) {
    super('INVALID_BODY', message);
  }

  /** A body that cannot even be read as JSON. */
  static unreadable(): AdkRefusal {
    const detail = 'There was an error parsing the body';
    return new AdkRefusal({ status: 400, body: { detail } }, detail);
  }
}
