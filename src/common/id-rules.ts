import { AppError } from './app-error.js';

/** Longest ids in characters: one rule on every door and every database. */
export const ID_LENGTHS = { app: 128, user: 256, session: 256, request: 128, resource: 256, reference: 128 } as const;

export type IdKind = keyof typeof ID_LENGTHS;

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/u;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** What is wrong with an id, or undefined. White space at its ends would be lost by a binary collation. */
export function idProblem(kind: IdKind, value: string): string | undefined {
  if (value === '') return 'must not be empty';
  if ([...value].length > ID_LENGTHS[kind]) return `must have at most ${ID_LENGTHS[kind]} characters`;
  if (value.trim() !== value) return 'must not begin or end with white space';
  if (CONTROL.test(value)) return 'must not contain control characters';
  if (LONE_SURROGATE.test(value)) return 'must be valid Unicode';
  return undefined;
}

/** @throws AppError `ID_INVALID` naming the field */
export function checkId(kind: IdKind, field: string, value: string): void {
  const problem = idProblem(kind, value);
  if (problem !== undefined) throw new AppError('ID_INVALID', `${field} ${problem}`);
}
