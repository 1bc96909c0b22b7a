import type { JsonObject } from '../../common/json.js';
import type { EngineEvent, EventOf } from '../../events/harness-event.js';
import type { FinishReason, TokenCounts, ToolCallRequest } from '../../events/values.js';
import { ProviderError, type ChatRequest } from '../ports/chat-model.port.js';
import { pause, untilAborted } from '../../common/abort.js';
import { Answer, type TextKind } from './answer.js';
import type { EngineInput } from './engine-input.js';
import type { EventFactory } from './event-factory.js';
import { retryDelayMs } from './retry-delay.js';
import { toWellFormedJson } from './well-formed.js';

/** What a model call came to. */
export type ReasonOutcome =
  | {
      readonly kind: 'answered';
      readonly reasonId: string;
      readonly text: string;
      readonly thinking: string;
      readonly toolCalls: readonly ToolCallRequest[];
      readonly finishReason: FinishReason;
      readonly usage: TokenCounts | undefined;
    }
  | {
      readonly kind: 'failed';
      readonly error: ProviderError;
      /** What was streamed before the failure. */
      readonly text: string;
      readonly thinking: string;
      /** Closes the reason when the run goes on after all; undefined when it is closed already. */
      readonly close: (() => EngineEvent) | undefined;
    };

/** One model call, from `reason_start` to `reason_end`. */
export class Reasoning {
  private readonly reasonId: string;
  private readonly startedAt: number;

  constructor(
    private readonly input: EngineInput,
    private readonly request: ChatRequest,
    private readonly events: EventFactory,
    private readonly signal: AbortSignal,
  ) {
    this.reasonId = input.ids.next();
    this.startedAt = input.clock.nowMs();
  }

  /**
   * Asks the model. A failing provider is asked again, but only while nothing of its answer has come; what was shown
   * before a failure is kept in a `reason_end` marked as interrupted.
   * @throws the signal's reason; errors that are no {@link ProviderError} pass through
   */
  async *run(): AsyncGenerator<EngineEvent, ReasonOutcome> {
    yield this.events.make('reason_start', { reasonId: this.reasonId }, this.meta());
    for (let attempt = 1; ; attempt += 1) {
      const answer = new Answer();
      try {
        return yield* this.ask(answer);
      } catch (error) {
        this.signal.throwIfAborted();
        if (!(error instanceof ProviderError)) throw error;
        const delayMs = answer.hasContent ? undefined : retryDelayMs(error, attempt, this.input.limits);
        if (delayMs === undefined) return yield* this.fail(answer, error);
        const detail = { attempt: attempt + 1, delayMs };
        yield this.events.make('progress', { code: 'MODEL_RETRY', state: 'active', detail });
        await pause(delayMs, this.signal);
      }
    }
  }

  private async *ask(answer: Answer): AsyncGenerator<EngineEvent, ReasonOutcome> {
    const { model, ids } = this.input;
    for await (const event of untilAborted(model.stream(this.request, this.signal), this.signal)) {
      if (event.type === 'finish') answer.finish = event;
      else if (event.type === 'tool_call') answer.calls.push(event.call);
      else yield* this.delta(event.type, answer.add(event.type, event.text));
    }
    yield* this.delta('thinking', answer.flush('thinking'));
    yield* this.delta('text', answer.flush('text'));
    const { finish } = answer;
    if (finish === undefined) {
      throw new ProviderError('the model stopped without an end mark', 'cut', { retryable: true });
    }
    const toolCalls = answer.calls.map((call) => ({
      callId: ids.next(),
      providerCallId: call.id,
      toolName: call.name,
      args: toWellFormedJson(call.args),
    }));
    const { finishReason, usage } = finish;
    yield this.end(answer, { toolCalls, finishReason, ...(usage && { usage }) }, this.meta(finish));
    const { text, thinking } = answer;
    return { kind: 'answered', reasonId: this.reasonId, text, thinking, toolCalls, finishReason, usage };
  }

  private async *fail(answer: Answer, error: ProviderError): AsyncGenerator<EngineEvent, ReasonOutcome> {
    const close = (): EngineEvent =>
      this.end(answer, { toolCalls: [], finishReason: 'other', interrupted: 'cancelled' }, this.meta());
    if (answer.isShown) yield close();
    const { text, thinking } = answer;
    return { kind: 'failed', error, text, thinking, close: answer.isShown ? undefined : close };
  }

  private *delta(kind: TextKind, text: string): Generator<EngineEvent> {
    if (text !== '') yield this.events.make('reason_delta', { reasonId: this.reasonId, kind, text });
  }

  private end(
    { text, thinking }: Answer,
    rest: Pick<EventOf<'reason_end'>, 'toolCalls' | 'finishReason' | 'usage' | 'interrupted'>,
    meta: JsonObject,
  ): EngineEvent {
    const durationMs = Math.max(0, this.input.clock.nowMs() - this.startedAt);
    const said = { reasonId: this.reasonId, text, ...(thinking !== '' && { thinking }) };
    return this.events.make('reason_end', { ...said, ...rest, durationMs }, meta);
  }

  private meta(finish: Answer['finish'] = undefined): JsonObject {
    const modelVersion = finish?.modelVersion ?? this.input.model.name;
    return { modelVersion, ...(finish?.note !== undefined && { note: finish.note }) };
  }
}
