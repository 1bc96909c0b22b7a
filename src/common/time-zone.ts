import { AppError } from './app-error.js';

/**
 * Checks an IANA time zone name.
 * @throws AppError `TIME_ZONE_INVALID`
 */
export function checkTimeZone(name: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
  } catch (error) {
    throw new AppError('TIME_ZONE_INVALID', 'time_zone must be an IANA name such as Asia/Shanghai', { cause: error });
  }
}
