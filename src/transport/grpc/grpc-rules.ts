import { ArrayUnique, IsIn, IsInt, Max, Min, ValidateBy, type ValidationOptions } from 'class-validator';
import { idProblem, type IdKind } from '../../common/id-rules.js';
import type { Reason } from '../../common/reasons.js';
import { isTimeZoneName } from '../../common/time-zone.js';

/** What a rule tells beside its text; a rule without it means `INVALID_BODY`. */
export interface RuleContext {
  readonly reason: Reason;
}

/** A rule on one field: undefined when the value is fine, else the end of the sentence `<field> …`. */
type Problem = (value: unknown) => string | undefined;

const because = (reason: Reason): ValidationOptions => ({ context: { reason } satisfies RuleContext });

function rule(name: string, problemOf: Problem, reason: Reason = 'INVALID_BODY'): PropertyDecorator {
  const validator = {
    validate: (value: unknown) => problemOf(value) === undefined,
    defaultMessage: (args?: { property: string; value: unknown }) =>
      `${args?.property ?? name} ${problemOf(args?.value) ?? 'is invalid'}`,
  };
  return ValidateBy({ name, validator }, because(reason));
}

/** An id of this kind, else `ID_INVALID`. */
export const IsId = (kind: IdKind): PropertyDecorator =>
  rule('isId', (value) => idProblem(kind, String(value)), 'ID_INVALID');

/** The request_id is there, else `REQUEST_ID_REQUIRED`; its form is another rule. */
export const IsGiven = (): PropertyDecorator =>
  rule('isGiven', (value) => (value === '' ? 'is required' : undefined), 'REQUEST_ID_REQUIRED');

/** 1 to `maxLength` characters of any kind. */
export const IsText = (maxLength: number): PropertyDecorator =>
  rule('isText', (value) => {
    const { length } = [...String(value)];
    return length >= 1 && length <= maxLength ? undefined : `must have 1 to ${maxLength} characters`;
  });

/** The id of an event as decimal text, 0 to 2^53 - 1, else `CURSOR_INVALID`. */
export const IsCursor = (): PropertyDecorator =>
  rule(
    'isCursor',
    (value) => (Number.isSafeInteger(Number(value)) ? undefined : `must be the id of an event, got ${String(value)}`),
    'CURSOR_INVALID',
  );

/** An IANA name, else `TIME_ZONE_INVALID`. */
export const IsZone = (): PropertyDecorator =>
  rule(
    'isZone',
    (value) => (isTimeZoneName(value) ? undefined : 'must be an IANA time zone, for example Asia/Shanghai'),
    'TIME_ZONE_INVALID',
  );

/** One of the names. */
export const IsOneOf = (names: readonly string[], reason: Reason = 'INVALID_BODY'): PropertyDecorator =>
  IsIn(names, { message: `$property must be one of ${names.join(', ')}`, ...because(reason) });

/** A list of some of the names, each at most once. */
export const IsSomeOf = (names: readonly string[]): PropertyDecorator => {
  const message = `$property must be a list of ${names.join(', ')}, each at most once`;
  return all(IsIn(names, { each: true, message }), ArrayUnique({ message }));
};

/** A whole number of the range. */
export const IsWithin = (min: number, max: number): PropertyDecorator => {
  const message = `$property must be from ${min} to ${max}, got $value`;
  return all(IsInt({ message }), Min(min, { message }), Max(max, { message }));
};

function all(...rules: readonly PropertyDecorator[]): PropertyDecorator {
  return (target, property) => rules.forEach((decorate) => decorate(target, property));
}
