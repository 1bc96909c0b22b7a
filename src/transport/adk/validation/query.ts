import { flag } from './kinds.js';
import { refuse, toIssue } from './issue.js';

/**
 * A flag of the query string; the last one counts, absent is false.
 * @throws AdkRefusal 422
 */
export function flagFrom(name: string, given: string | readonly string[] | undefined): boolean {
  const value = typeof given === 'string' ? given : given?.at(-1);
  if (value === undefined) return false;
  const verdict = flag(value);
  if ('fault' in verdict) throw refuse([toIssue(verdict.fault, ['query', name], value)]);
  return verdict.value === true;
}
