import { abortable } from '../../common/abort.js';
import { AppError } from '../../common/app-error.js';
import { isJsonObject, type JsonObject } from '../../common/json.js';
import type { ToolCallRequest, ToolError, ToolOutcome } from '../../events/values.js';
import type { Tool } from '../ports/tool.port.js';
import type { EngineInput } from './engine-input.js';
import { argumentFaults } from './tool-arguments.js';
import { cutMiddle, toOutput } from './tool-output.js';

/** How a tool call ended: what its `tool_call_end` and the model get. */
export interface ToolCallResult {
  readonly outcome: ToolOutcome;
  readonly text: string;
  readonly error: ToolError | null;
  readonly isJson: boolean;
}

/** A call that was checked and can be run. */
export interface Runnable {
  readonly tool: Tool;
  readonly args: JsonObject;
  /** A human's remark, added to the result. */
  readonly note?: string;
}

/** A call of the model, checked before anything runs. */
export interface CheckedCall {
  readonly request: ToolCallRequest;
  /** The arguments as events show them: `{}` when the model sent no object. */
  readonly args: JsonObject;
  /** What to run, or why nothing is run. */
  readonly plan: Runnable | ToolCallResult;
}

/** Tells a call that can be run from one that was refused or answered already. */
export const isRunnable = (plan: CheckedCall['plan']): plan is Runnable => 'tool' in plan;

/**
 * Finds the call's tool and checks its arguments, without those that only the host may set. What cannot run becomes
 * an observation that says why.
 */
export function checkCall(request: ToolCallRequest, input: EngineInput): CheckedCall {
  const sent = isJsonObject(request.args) ? withoutHostKeys(request.args, input.toolContext) : request.args;
  const args = isJsonObject(sent) ? sent : {};
  const tool = input.tools.find((each) => each.declaration.name === request.toolName);
  return { request, args, plan: tool === undefined ? unknownTool(request, input) : fit(tool, sent, input) };
}

/** The call with other arguments, checked again. */
export function withArguments(call: CheckedCall, args: JsonObject, input: EngineInput): CheckedCall {
  return checkCall({ ...call.request, args }, input);
}

function withoutHostKeys(args: JsonObject, toolContext: JsonObject): JsonObject {
  const entries = Object.entries(args);
  const own = entries.filter(([key]) => !Object.hasOwn(toolContext, key));
  return own.length === entries.length ? args : Object.fromEntries(own);
}

function unknownTool({ toolName }: ToolCallRequest, { tools, limits }: EngineInput): ToolCallResult {
  const names = tools.map((each) => each.declaration.name).join(', ');
  const message = `there is no tool named "${toolName}"`;
  const text = `Not run: ${message}. Available tools: ${names === '' ? 'none' : names}.`;
  return failure('TOOL_UNKNOWN', message, cutMiddle(text, limits.toolOutputChars));
}

function fit(tool: Tool, args: JsonObject | string, { limits }: EngineInput): CheckedCall['plan'] {
  const { name, parameters } = tool.declaration;
  let faults: readonly string[];
  try {
    faults = isJsonObject(args) ? argumentFaults(parameters, args) : ['/ must be a JSON object'];
  } catch {
    return failure('TOOL_FAILED', `the schema of tool "${name}" is broken`);
  }
  if (faults.length === 0 && isJsonObject(args)) return { tool, args };
  const message = `the arguments do not fit the schema of tool "${name}": ${faults.join('; ')}`;
  const sent = typeof args === 'string' ? args : JSON.stringify(args);
  const text = [`Not run: ${message}.`, `Schema: ${JSON.stringify(parameters)}`, `You sent: ${sent}`].join('\n');
  return failure('ARGS_INVALID', message, cutMiddle(text, limits.toolOutputChars));
}

/**
 * Runs a call within its time limit.
 * @throws the signal's reason, at once when it is aborted; a tool that ignores its signal is left behind
 */
export async function runTool(
  { tool, args, note }: Runnable,
  callId: string,
  input: EngineInput,
  signal: AbortSignal,
): Promise<ToolCallResult> {
  const { name } = tool.declaration;
  const timeoutMs = tool.timeoutMs ?? input.limits.toolTimeoutMs;
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new Error('tool time limit')), timeoutMs);
  const both = AbortSignal.any([signal, limit.signal]);
  try {
    const result = await abortable(start(tool, args, callId, input, both), both);
    return noted({ outcome: 'ok', error: null, ...toOutput(result, input.limits.toolOutputChars) }, note);
  } catch (error) {
    signal.throwIfAborted();
    if (limit.signal.aborted) {
      const message = `tool "${name}" did not end within ${timeoutMs} ms`;
      return { ...failure('TOOL_TIMEOUT', message), outcome: 'timeout' };
    }
    // Only an AppError's message is known to be safe to show.
    const why = error instanceof AppError ? `: ${error.message}` : '';
    return failure('TOOL_FAILED', cutMiddle(`tool "${name}" failed${why}`, input.limits.toolOutputChars));
  } finally {
    clearTimeout(timer);
  }
}

async function start(tool: Tool, args: JsonObject, callId: string, input: EngineInput, signal: AbortSignal) {
  const { runId, sessionId, agentName, attempt, toolContext, path } = input;
  const stepKey = [...path, `tool:${callId}`].join('/');
  const context = { runId, sessionId, agentName, callId, stepKey, attempt, values: toolContext };
  return tool.run({ ...args, ...toolContext }, context, signal);
}

/** The result with the remark of the human who approved the call. */
export function noted(result: ToolCallResult, note: string | undefined): ToolCallResult {
  return note === undefined ? result : { ...result, text: `${result.text} (Note: ${note})`, isJson: false };
}

export function failure(code: string, message: string, text = message): ToolCallResult {
  return { outcome: 'error', text, error: { code, message }, isJson: false };
}
