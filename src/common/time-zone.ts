import { AppError } from './app-error.js';

/** True for a name of the IANA database; offsets such as `+08:00` are understood by the platform and are no names. */
export function isTimeZoneName(value: unknown): boolean {
  if (typeof value !== 'string' || !/^[A-Za-z]/.test(value)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
    return true;
  } catch {
    return false;
  }
}

/**
 * Checks an IANA time zone name.
 * @throws AppError `TIME_ZONE_INVALID`
 */
export function checkTimeZone(name: string): void {
  if (isTimeZoneName(name)) return;
  throw new AppError('TIME_ZONE_INVALID', 'time_zone must be an IANA name such as Asia/Shanghai');
}
