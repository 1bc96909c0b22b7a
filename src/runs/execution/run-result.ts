import type { JsonObject } from '../../common/json.js';
import type { Reason } from '../../common/reasons.js';
import { REASONS } from '../../common/reasons.js';
import type { EventOf } from '../../events/harness-event.js';
import type { EndReason, RunError, RunResult } from '../../events/values.js';

/** How a run ends: with a result, or with an error. */
export type RunOutcome =
  { readonly type: 'completed'; readonly result: RunResult } | { readonly type: 'failed'; readonly code: Reason };

const FAILURES: Partial<Record<EndReason, Reason>> = {
  max_turns: 'TURN_LIMIT',
  budget: 'BUDGET_EXCEEDED',
  loop: 'LOOP_DETECTED',
  empty_answer: 'EMPTY_ANSWER',
  invalid_result: 'RESULT_INVALID',
  provider_error: 'PROVIDER_ERROR',
};

/**
 * The table from the engine's end to the run's (contract runs §2.5).
 * @param resultOf makes the result of a good answer
 */
export function outcomeOf(end: EventOf<'run_end'>, resultOf: (text: string) => RunResult): RunOutcome {
  if (end.meta?.['reason'] === 'MODEL_LACKS_VISION') return { type: 'failed', code: 'MODEL_LACKS_VISION' };
  const failure = FAILURES[end.reason];
  if (failure !== undefined) return { type: 'failed', code: failure };
  if (end.reason === 'completed') return { type: 'completed', result: resultOf(end.text) };
  return { type: 'completed', result: { type: 'text', data: { text: end.text, end: end.reason } } };
}

/** The `error` of a failed run; the text it has stays in `details.text`. */
export function runError(code: Reason, message: string, stage: string, text: string, facts: JsonObject = {}): RunError {
  const details: JsonObject = { ...facts, ...(text === '' ? {} : { text }) };
  const hasDetails = Object.keys(details).length > 0;
  return { code, message, retryable: REASONS[code].retryable, stage, ...(hasDetails ? { details } : {}) };
}

/** What pictures and models may end a run with, beside the ends of the engine. */
const RUN_REASONS: readonly Reason[] = [
  'IMAGE_UNREACHABLE',
  'IMAGE_UNREADABLE',
  'IMAGE_TOO_LARGE',
  'MODEL_LACKS_VISION',
  'PROVIDER_ERROR',
];

/** True for a reason that clients know as the `code` of a run's error. */
export function isRunReason(reason: Reason): boolean {
  return RUN_REASONS.includes(reason);
}
