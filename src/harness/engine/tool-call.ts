import { AppError } from '../../common/app-error.js';
import { isJsonObject, type JsonObject } from '../../common/json.js';
import type { ToolCallRequest, ToolError, ToolOutcome } from '../../events/values.js';
import type { Tool } from '../ports/tool.port.js';
import { abortable } from '../../common/abort.js';
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
interface Runnable {
  readonly tool: Tool;
  readonly args: JsonObject;
}

/** A call of the model, checked before anything runs. */
export interface CheckedCall {
  readonly request: ToolCallRequest;
  /** The arguments as events show them: `{}` when the model sent no object. */
  readonly args: JsonObject;
  /** What to run, or why nothing is run. */
  readonly plan: Runnable | ToolCallResult;
}

/** Tells a call that can be run from one that was refused. */
export const isRunnable = (plan: CheckedCall['plan']): plan is Runnable => 'tool' in plan;

/** Finds the call's tool and checks its arguments. What cannot run becomes an observation that says why. */
export function checkCall(request: ToolCallRequest, input: EngineInput): CheckedCall {
  const args = isJsonObject(request.args) ? request.args : {};
  const tool = input.tools.find((each) => each.declaration.name === request.toolName);
  if (tool === undefined) {
    const names = input.tools.map((each) => each.declaration.name).join(', ');
    const message = `there is no tool named "${request.toolName}"`;
    const text = `Not run: ${message}. Available tools: ${names === '' ? 'none' : names}.`;
    return { request, args, plan: failure('TOOL_UNKNOWN', message, cutMiddle(text, input.limits.toolOutputChars)) };
  }
  return { request, args, plan: checkArguments(tool, request, input.limits.toolOutputChars) };
}

function checkArguments(tool: Tool, request: ToolCallRequest, maxChars: number): CheckedCall['plan'] {
  const { name, parameters } = tool.declaration;
  const { args } = request;
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
  return failure('ARGS_INVALID', message, cutMiddle(text, maxChars));
}

/**
 * Runs a checked call within its time limit.
 * @throws the signal's reason, at once when it is aborted; a tool that ignores its signal is left behind
 */
export async function runCall(call: CheckedCall, input: EngineInput, signal: AbortSignal): Promise<ToolCallResult> {
  if (!isRunnable(call.plan)) return call.plan;
  const { tool, args } = call.plan;
  const { name } = tool.declaration;
  const timeoutMs = tool.timeoutMs ?? input.limits.toolTimeoutMs;
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new Error('tool time limit')), timeoutMs);
  const both = AbortSignal.any([signal, limit.signal]);
  try {
    const result = await abortable(start(tool, args, call.request.callId, input, both), both);
    return { outcome: 'ok', error: null, ...toOutput(result, input.limits.toolOutputChars) };
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
  const { runId, sessionId, agentName, attempt } = input;
  return tool.run(args, { runId, sessionId, agentName, callId, stepKey: `tool:${callId}`, attempt }, signal);
}

function failure(code: string, message: string, text = message): ToolCallResult {
  return { outcome: 'error', text, error: { code, message }, isJson: false };
}
