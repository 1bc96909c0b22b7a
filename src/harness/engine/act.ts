import type { EngineEvent } from '../../events/harness-event.js';
import type { ToolCallRequest } from '../../events/values.js';
import type { ChatMessage } from '../ports/chat-model.port.js';
import type { EngineInput } from './engine-input.js';
import type { EventFactory } from './event-factory.js';
import { checkCall, isRunnable, runCall, type CheckedCall, type ToolCallResult } from './tool-call.js';

interface EndedCall {
  readonly call: CheckedCall;
  readonly result: ToolCallResult;
  readonly durationMs: number;
}

/**
 * Runs the tool calls of one reason, from `action_start` to `action_end`. They run side by side when none of them can
 * change anything, else one after the other in the order of the calls. A tool starts only after its
 * `tool_call_start` was taken by the consumer.
 * @returns the results as messages for the model, in the order of the calls
 * @throws the signal's reason
 */
export async function* act(
  input: EngineInput,
  reasonId: string,
  requests: readonly ToolCallRequest[],
  events: EventFactory,
  signal: AbortSignal,
): AsyncGenerator<EngineEvent, ChatMessage[]> {
  const calls = requests.map((request) => checkCall(request, input));
  const isParallel = calls.every(({ plan }) => !isRunnable(plan) || plan.tool.effect === 'read_only');
  const running = new Map<string, Promise<EndedCall>>();
  const results = new Map<string, ToolCallResult>();
  const settle = async function* (): AsyncGenerator<EngineEvent> {
    while (running.size > 0) {
      const ended = await Promise.race(running.values());
      running.delete(ended.call.request.callId);
      results.set(ended.call.request.callId, ended.result);
      yield endEvent(ended, reasonId, events);
    }
  };

  yield events.make('action_start', { calls: calls.map(viewOf) });
  for (const call of calls) {
    yield events.make('tool_call_start', { ...viewOf(call), reasonId });
    const ending = runTimed(call, input, signal);
    // The race reports an abort once; the other calls' rejections must not be unhandled.
    ending.catch(() => undefined);
    running.set(call.request.callId, ending);
    if (!isParallel) yield* settle();
  }
  yield* settle();
  yield events.make('action_end', {});
  return calls.map((call) => toMessage(call, results));
}

async function runTimed(call: CheckedCall, input: EngineInput, signal: AbortSignal): Promise<EndedCall> {
  const startedAt = input.clock.nowMs();
  const result = await runCall(call, input, signal);
  return { call, result, durationMs: Math.max(0, input.clock.nowMs() - startedAt) };
}

function viewOf({ request: { callId, toolName }, args }: CheckedCall) {
  return { callId, toolName, args };
}

function endEvent({ call, result, durationMs }: EndedCall, reasonId: string, events: EventFactory): EngineEvent {
  const { callId, toolName } = call.request;
  const { outcome, text, error, isJson } = result;
  const fields = { callId, toolName, reasonId, outcome, text, error, durationMs };
  return events.make('tool_call_end', fields, isJson ? { json: true } : undefined);
}

function toMessage({ request }: CheckedCall, results: ReadonlyMap<string, ToolCallResult>): ChatMessage {
  const result = results.get(request.callId);
  if (result === undefined) throw new Error(`call ${request.callId} has no result`);
  const { providerCallId: callId, toolName } = request;
  return { role: 'tool', callId, toolName, text: result.text, isError: result.outcome !== 'ok' };
}
