import type { PendingQuestion, PendingTask, ToolCallRequest, ToolDecision } from '../../events/values.js';
import { AskingTool, type ToolResult } from '../ports/tool.port.js';
import type { EngineInput } from './engine-input.js';
import type { EngineTexts } from './engine-texts.js';
import type { Waiting } from './stepped-tool.js';
import { checkCall, failure, isRunnable, withArguments, type CheckedCall, type ToolCallResult } from './tool-call.js';
import { toOutput } from './tool-output.js';

/** A call with the decision that was applied to it. */
export interface DecidedCall {
  readonly call: CheckedCall;
  readonly decision: ToolDecision;
}

/** The calls of one turn, judged as a whole before anything of them runs (contract engine §3.3). */
export type Batch =
  | { readonly kind: 'ready'; readonly calls: readonly CheckedCall[]; readonly decided: readonly DecidedCall[] }
  /** Somebody must decide or answer first: nothing runs, harmless calls included. */
  | { readonly kind: 'waiting'; readonly waiting: Waiting }
  /** The only call that waited was rejected, which ends the run. */
  | { readonly kind: 'rejected'; readonly decided: DecidedCall; readonly text: string };

/** What a call became, and what it still waits for. */
interface Judged {
  readonly call: CheckedCall;
  readonly decision?: ToolDecision;
  readonly task?: PendingTask;
  readonly questions?: readonly PendingQuestion[];
}

/** Judges the calls of one turn: tool, arguments, permission, decision, answers. */
export async function judgeBatch(
  input: EngineInput,
  requests: readonly ToolCallRequest[],
  texts: EngineTexts,
): Promise<Batch> {
  const judged: Judged[] = [];
  for (const request of requests) judged.push(await judge(checkCall(request, input), input, texts));
  const tasks = judged.flatMap(({ task }) => (task === undefined ? [] : [task]));
  const questions = judged.flatMap((each) => each.questions ?? []);
  if (tasks.length + questions.length > 0) return { kind: 'waiting', waiting: { tasks, questions } };
  const decided = judged.flatMap(({ call, decision }) => (decision === undefined ? [] : [{ call, decision }]));
  const only = decided[0];
  if (only !== undefined && endsTheRun(only.decision, input)) {
    return {
      kind: 'rejected',
      decided: only,
      text: only.decision.comment ?? texts.rejected(only.call.request.toolName),
    };
  }
  return { kind: 'ready', calls: judged.map(({ call }) => call), decided };
}

async function judge(call: CheckedCall, input: EngineInput, texts: EngineTexts): Promise<Judged> {
  const decision = input.suspension?.decisions.get(call.request.callId);
  // The decision stands, whatever the rules say now.
  if (decision !== undefined && decision.decision !== 'approve') {
    return { call: { ...call, plan: decidedResult(call, decision, texts) }, decision };
  }
  if (!isRunnable(call.plan)) return { call, ...(decision && { decision }) };
  const { tool } = call.plan;
  if (tool instanceof AskingTool) return asked(call, tool, input);
  if (decision !== undefined) return { call: await approved(call, decision, input, texts), decision };
  const verdict = await permission(call, input);
  if (verdict.behavior === 'allow') return { call };
  if (verdict.behavior === 'deny') return { call: { ...call, plan: denied(call, verdict.reason, texts) } };
  const { callId, toolName } = call.request;
  return { call, task: { callUuid: callId, toolName, args: call.args, comment: verdict.reason, path: input.path } };
}

function permission(call: CheckedCall, { permissions, agentName }: EngineInput) {
  return permissions.judge({ toolName: call.request.toolName, args: call.args, agentName });
}

/** Approved arguments are checked again, and no approval opens what is denied. */
async function approved(
  call: CheckedCall,
  { modifiedArgs, comment }: ToolDecision,
  input: EngineInput,
  texts: EngineTexts,
): Promise<CheckedCall> {
  const merged = modifiedArgs === undefined ? call : withArguments(call, { ...call.args, ...modifiedArgs }, input);
  if (!isRunnable(merged.plan)) return merged;
  const verdict = await permission(merged, input);
  if (verdict.behavior === 'deny') return { ...merged, plan: denied(merged, verdict.reason, texts) };
  return comment === undefined ? merged : { ...merged, plan: { ...merged.plan, note: comment } };
}

function denied(call: CheckedCall, reason: string, texts: EngineTexts): ToolCallResult {
  const text = texts.denied(call.request.toolName, reason);
  return { ...failure('PERMISSION_DENIED', reason, text), outcome: 'denied' };
}

function decidedResult(
  { request: { toolName } }: CheckedCall,
  { decision, comment }: ToolDecision,
  texts: EngineTexts,
): ToolCallResult {
  if (decision === 'skip') {
    return { outcome: 'skipped', text: comment ?? texts.skipped(toolName), error: null, isJson: false };
  }
  const text = comment ?? texts.rejected(toolName);
  return { outcome: 'rejected', text, error: { code: 'REJECTED', message: text }, isJson: false };
}

/** A lone rejection ends the run, unless the decision or the host says that the model goes on. */
function endsTheRun({ decision, ifRejected }: ToolDecision, { suspension, path, rejectSingle }: EngineInput): boolean {
  const waited = suspension?.tasks.filter((task) => task.path.join('/') === path.join('/')).length ?? 0;
  return decision === 'reject' && waited === 1 && (ifRejected ?? rejectSingle) === 'end';
}

function asked(call: CheckedCall, tool: AskingTool, input: EngineInput): Judged {
  const { callId } = call.request;
  const answers = input.suspension?.answers.get(callId);
  if (answers !== undefined) return { call: { ...call, plan: answered(tool.resultOf(answers), input) } };
  const place = { callUuid: callId, path: input.path };
  return { call, questions: tool.questionsOf(call.args).map((question) => ({ ...question, ...place })) };
}

function answered(result: ToolResult, { limits }: EngineInput): ToolCallResult {
  return { outcome: 'ok', error: null, ...toOutput(result, limits.toolOutputChars) };
}
