import type { EventOf } from '../../events/harness-event.js';
import type { LoggedEvent, RunFacts } from '../../events/projection.js';
import type { FinishReason } from '../../events/values.js';
import { agentEvent, type AdkEvent, type EventContent } from './adk-event.js';
import { ASK_USER, callPart, toUsageMetadata, wireCallId } from './adk-parts.js';

const FINISH: Readonly<Record<FinishReason, string>> = {
  stop: 'STOP',
  tool_calls: 'STOP',
  length: 'MAX_TOKENS',
  content_filter: 'SAFETY',
  other: 'OTHER',
};

/**
 * What a model said in one call, as one whole event.
 * @returns undefined for an answer without content that is no refusal either
 */
export function answerEvent(
  run: RunFacts,
  event: LoggedEvent & EventOf<'reason_end'>,
  modelVersion: string | undefined,
): AdkEvent | undefined {
  const { thinking = '', text, toolCalls } = event;
  const parts = [
    ...(thinking === '' ? [] : [{ text: thinking, thought: true }]),
    ...(text === '' ? [] : [{ text }]),
    ...toolCalls.map(callPart),
  ];
  const problem = problemOf(event);
  if (parts.length === 0) return problem && agentEvent(run, event, { modelVersion, ...problem });
  const questions = toolCalls.filter(({ toolName }) => toolName === ASK_USER).map(wireCallId);
  return agentEvent(run, event, {
    modelVersion,
    content: { parts, role: 'model' },
    partial: false,
    ...problem,
    ...(event.interrupted === undefined ? { finishReason: FINISH[event.finishReason] } : { interrupted: true }),
    usageMetadata: event.usage && toUsageMetadata(event.usage),
    longRunningToolIds: toolCalls.length === 0 ? undefined : questions,
  });
}

/** A refusal and a cut are part of the answer, not failures of the run. */
function problemOf(event: EventOf<'reason_end'>): Pick<EventContent, 'errorCode' | 'errorMessage'> | undefined {
  const noted = event.meta?.['note'];
  const note = typeof noted === 'string' ? noted : undefined;
  if (event.finishReason === 'length')
    return { errorCode: 'MAX_TOKENS', errorMessage: note ?? 'Maximum tokens reached' };
  if (event.finishReason !== 'content_filter') return undefined;
  return { errorCode: 'SAFETY', errorMessage: note ?? 'The model refused to answer.' };
}
