import { idProblem } from '../../common/id-rules.js';
import type { Json } from '../../common/json.js';
import { valueError, type Fault } from './validation/issue.js';
import { ruled, text, type Kind } from './validation/kinds.js';

/** What is wrong with an id of the wire, which is one segment of a path; undefined for a good one. */
export function segmentProblem(kind: 'user' | 'session', id: string): Fault | undefined {
  const problem = /[/\\]/.test(id) ? 'must not contain slashes' : idProblem(kind, id);
  return problem === undefined ? undefined : valueError(`a ${kind} id ${problem}`);
}

/** An empty id names nothing, which is for the look-up to say. */
const id = (kind: 'user' | 'session', clean: (given: string) => string): Kind =>
  ruled(text, (value: Json) => {
    const given = clean(value as string);
    return given === '' ? undefined : segmentProblem(kind, given);
  });

export const userId = id('user', (given) => given);

/** White space at its ends does not count. */
export const sessionId = id('session', (given) => given.trim());
