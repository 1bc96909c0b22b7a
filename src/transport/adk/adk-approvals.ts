import type { JsonObject } from '../../common/json.js';
import type { EventOf } from '../../events/harness-event.js';
import type { LoggedEvent, RunFacts } from '../../events/projection.js';
import type { PendingTask, QuestionAnswer, ToolCallRequest } from '../../events/values.js';
import { agentEvent, confirmationId, type AdkEvent, type EventContent } from './adk-event.js';
import { ASK_USER, REQUEST_CONFIRMATION, REQUEST_INPUT, responsePart, wireCallId } from './adk-parts.js';

/** What the user answered to questions and approvals: one part for each. */
export function answerContent(
  run: RunFacts,
  calls: readonly ToolCallRequest[],
  { answers, decisions = [] }: EventOf<'answer_accepted'>,
): EventContent {
  const questions = answers === undefined ? [] : calls.filter((call) => call.toolName === ASK_USER);
  const answered = questions.map((call) => responsePart(wireCallId(call), REQUEST_INPUT, toAnswer(answers ?? [])));
  const decided = decisions.map(({ callUuid, decision }) =>
    responsePart(confirmationId(run.runId, callUuid), REQUEST_CONFIRMATION, { confirmed: decision === 'approve' }),
  );
  return { content: { parts: [...answered, ...decided], role: 'user' } };
}

/** Free text, or the chosen options. */
function toAnswer(answers: readonly QuestionAnswer[]): JsonObject {
  const [only] = answers;
  if (answers.length === 1 && only?.selected.length === 0) return { result: only.custom };
  return { answers: answers.map(({ id, selected, custom }) => ({ id, selected: [...selected], custom })) };
}

/** Two frames for calls that wait for a human: what to confirm, and why the calls did not run. */
export function approvalEvents(
  run: RunFacts,
  calls: readonly ToolCallRequest[],
  event: LoggedEvent & EventOf<'hitl_pending'>,
): AdkEvent[] {
  if (event.pendingTasks.length === 0) return [];
  const tasks = event.pendingTasks.map((task) => ({
    task,
    call: calls.find(({ callId }) => callId === task.callUuid),
  }));
  const idOf = ({ task, call }: (typeof tasks)[number]): string => (call ? wireCallId(call) : task.callUuid);
  const confirmations = tasks.map((entry) => confirmationPart(run, entry.task, idOf(entry)));
  const asked = agentEvent(run, event, {
    content: { parts: confirmations, role: 'user' },
    longRunningToolIds: event.pendingTasks.map((task) => confirmationId(run.runId, task.callUuid)),
  });
  const error = 'This tool call requires confirmation, please approve or reject.';
  const waits = {
    content: { parts: tasks.map((entry) => responsePart(idOf(entry), entry.task.toolName, { error })), role: 'user' },
    actions: {
      skipSummarization: true as const,
      requestedToolConfirmations: Object.fromEntries(tasks.map((entry) => [idOf(entry), confirmation(entry.task)])),
    },
  };
  return [asked, agentEvent(run, event, waits, 1)];
}

function confirmationPart(run: RunFacts, task: PendingTask, id: string): JsonObject {
  const originalFunctionCall = { id, args: task.args, name: task.toolName };
  const args = { originalFunctionCall, toolConfirmation: confirmation(task) };
  return { functionCall: { id: confirmationId(run.runId, task.callUuid), args, name: REQUEST_CONFIRMATION } };
}

function confirmation({ toolName }: PendingTask): JsonObject {
  const hint =
    `Please approve or reject the tool call ${toolName}() by responding with a FunctionResponse ` +
    'with an expected ToolConfirmation payload.';
  return { hint, confirmed: false };
}
