import { ValidateBy, type ValidationOptions } from 'class-validator';
import { idProblem, type IdKind } from '../../common/id-rules.js';
import type { Reason } from '../../common/reasons.js';
import { isTimeZoneName } from '../../common/time-zone.js';

/** What a broken rule means for the caller; without it `INVALID_BODY`. */
export interface RuleContext {
  readonly reason: Reason;
}

/** Options of a validator: the end of the sentence `<field> …`, and the reason of the error. */
export function says(message: string, reason: Reason = 'INVALID_BODY'): ValidationOptions & { message: string } {
  return { message, context: { reason } satisfies RuleContext };
}

/** The constraint that a field must be there; it is told before all others. */
export const REQUIRED = 'required';

/** The field must be there and not null. */
export function Required(reason: Reason = 'INVALID_BODY'): PropertyDecorator {
  return ValidateBy(
    { name: REQUIRED, validator: { validate: (value: unknown) => value !== undefined && value !== null } },
    says('is missing', reason),
  );
}

/** An id as the rules of its kind want it. */
export function IsIdText(kind: IdKind): PropertyDecorator {
  const problemOf = (value: unknown): string | undefined =>
    typeof value === 'string' ? idProblem(kind, value) : 'must be a string';
  return ValidateBy(
    {
      name: 'idText',
      validator: {
        validate: (value: unknown) => problemOf(value) === undefined,
        defaultMessage: (args) => problemOf(args?.value) ?? 'must be an id',
      },
    },
    { context: { reason: 'ID_INVALID' } satisfies RuleContext },
  );
}

/** The name of a time zone in the IANA database. */
export function IsTimeZoneName(): PropertyDecorator {
  return ValidateBy(
    { name: 'timeZoneName', validator: { validate: isTimeZoneName } },
    says('must be the IANA name of a time zone, such as Asia/Shanghai', 'TIME_ZONE_INVALID'),
  );
}

/** A field of the contract that this version does not have. */
export function NotImplemented(): PropertyDecorator {
  return ValidateBy(
    { name: 'notImplemented', validator: { validate: (value: unknown) => value === undefined || value === null } },
    says('is not implemented in this version', 'NOT_IMPLEMENTED'),
  );
}
