import type { EngineEvent } from '../../events/harness-event.js';
import type { ChatMessage } from '../ports/chat-model.port.js';
import type { OpenCalls } from '../ports/trace.js';
import type { EngineInput } from './engine-input.js';
import type { EventFactory } from './event-factory.js';
import { Race } from './race.js';
import { allWaiting, SteppedTool, type CallEnding, type Waiting } from './stepped-tool.js';
import type { TokenMeter } from './token-meter.js';
import { isRunnable, noted, runTool, type CheckedCall, type ToolCallResult } from './tool-call.js';

/** How the calls of one turn went. */
export type ActionOutcome =
  | { readonly kind: 'done'; readonly calls: readonly DoneCall[] }
  /** Some calls wait for a human inside a sub-agent; the others have their results. */
  | { readonly kind: 'waiting'; readonly waiting: Waiting };

/** A call with its result. */
export interface DoneCall {
  readonly call: CheckedCall;
  readonly result: ToolCallResult;
}

interface TimedEnding {
  readonly ending: CallEnding;
  readonly durationMs: number;
}

/** Runs the judged calls of one turn, from `action_start` to `action_end`, or to where they wait for a human. */
export class Action {
  private readonly race = new Race<CheckedCall, EngineEvent, TimedEnding>();
  private readonly results = new Map<string, ToolCallResult>();
  private readonly waiting: Waiting[] = [];

  /** @param resumed the calls that a suspended run goes on with */
  constructor(
    private readonly input: EngineInput,
    private readonly reasonId: string,
    private readonly calls: readonly CheckedCall[],
    private readonly resumed: OpenCalls | undefined,
    private readonly events: EventFactory,
    private readonly meter: TokenMeter,
    private readonly signal: AbortSignal,
  ) {}

  /**
   * Calls run side by side when none of them can change anything or all say so, else one after the other in the
   * order of the calls. A call starts only after its `tool_call_start` was taken by the consumer.
   * @throws the signal's reason
   */
  async *run(): AsyncGenerator<EngineEvent, ActionOutcome> {
    const isParallel = this.calls.every(({ plan }) => !isRunnable(plan) || mayRunBeside(plan.tool));
    yield this.events.make('action_start', { calls: this.calls.map(viewOf) });
    for (const call of this.calls) {
      const hasBegun = this.childrenOf(call).length > 0;
      const start = { ...viewOf(call), reasonId: this.reasonId, ...(hasBegun && { resumed: true }) };
      yield this.events.make('tool_call_start', start);
      this.race.add(call, this.timed(call));
      if (!isParallel) yield* this.settle();
    }
    yield* this.settle();
    if (this.waiting.length > 0) return { kind: 'waiting', waiting: allWaiting(this.waiting) };
    yield this.events.make('action_end', {});
    return { kind: 'done', calls: this.calls.map((call) => ({ call, result: this.resultOf(call) })) };
  }

  private async *settle(): AsyncGenerator<EngineEvent> {
    while (this.race.size > 0) {
      const step = await this.race.step();
      if (step.kind === 'event') {
        yield step.event;
        this.race.resume(step.key);
      } else if (step.result.ending.kind === 'waiting') {
        this.waiting.push(step.result.ending.waiting);
      } else {
        this.results.set(step.key.request.callId, step.result.ending.result);
        yield this.endEvent(step.key, step.result.ending.result, step.result.durationMs);
      }
    }
  }

  private async *timed(call: CheckedCall): AsyncGenerator<EngineEvent, TimedEnding> {
    const { clock } = this.input;
    const startedAt = clock.nowMs();
    const ending = yield* this.ending(call);
    return { ending, durationMs: Math.max(0, clock.nowMs() - startedAt) };
  }

  private async *ending(call: CheckedCall): AsyncGenerator<EngineEvent, CallEnding> {
    const { plan, request } = call;
    if (!isRunnable(plan)) return { kind: 'ended', result: plan };
    if (!(plan.tool instanceof SteppedTool)) {
      return { kind: 'ended', result: await runTool(plan, request.callId, this.input, this.signal) };
    }
    const { input, reasonId, meter } = this;
    const stepped = { input, callId: request.callId, reasonId, children: this.childrenOf(call), meter };
    const ending = yield* plan.tool.steps(plan.args, stepped, this.signal);
    return ending.kind === 'waiting' ? ending : { kind: 'ended', result: noted(ending.result, plan.note) };
  }

  private childrenOf({ request }: CheckedCall) {
    return this.resumed?.children?.get(request.callId) ?? [];
  }

  private resultOf({ request }: CheckedCall): ToolCallResult {
    const result = this.results.get(request.callId);
    if (result === undefined) throw new Error(`call ${request.callId} has no result`);
    return result;
  }

  private endEvent(call: CheckedCall, result: ToolCallResult, durationMs: number): EngineEvent {
    const { callId, toolName } = call.request;
    const { outcome, text, error, isJson } = result;
    const fields = { callId, toolName, reasonId: this.reasonId, outcome, text, error, durationMs };
    return this.events.make('tool_call_end', fields, isJson ? { json: true } : undefined);
  }
}

/** The results as messages for the model, in the order of the calls. */
export function resultMessages(calls: readonly DoneCall[]): ChatMessage[] {
  return calls.map(({ call: { request }, result }) => ({
    role: 'tool',
    callId: request.providerCallId,
    toolName: request.toolName,
    text: result.text,
    isError: result.outcome !== 'ok' && result.outcome !== 'skipped',
  }));
}

const mayRunBeside = ({ effect, isParallel }: { readonly effect: string; readonly isParallel?: boolean }): boolean =>
  effect === 'read_only' || isParallel === true;

function viewOf({ request: { callId, toolName }, args }: CheckedCall) {
  return { callId, toolName, args };
}
