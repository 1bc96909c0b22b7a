import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../src/common/json.js';
import type { FinishReason, TokenCounts } from '../../src/events/values.js';
import { ChatModel, ProviderError, type ChatEvent, type ChatRequest } from '../../src/harness/ports/chat-model.port.js';

/** An event to yield, a wait (obeying the signal), a failure, or a silence that ignores even the signal. */
export type ScriptStep = ChatEvent | { readonly waitMs: number } | { readonly failure: Error } | 'HANG';

/** A model that plays one list of steps a call and records every request. */
export class ScriptedChatModel extends ChatModel {
  readonly name = 'scripted-1';
  readonly requests: ChatRequest[] = [];
  /** Streams that were closed, by their own end or by the caller. */
  closed = 0;

  constructor(
    private readonly answers: readonly (readonly ScriptStep[])[],
    readonly acceptsPictures = true,
  ) {
    super();
  }

  async *stream(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    this.requests.push(request);
    try {
      for (const step of this.answers[this.requests.length - 1] ?? say('(the script is over)')) {
        if (step === 'HANG') await new Promise(() => undefined);
        else if ('waitMs' in step) await sleep(step.waitMs, undefined, { signal });
        else if ('failure' in step) throw step.failure;
        else yield step;
      }
    } finally {
      this.closed += 1;
    }
  }
}

export const tokens = (promptTokens: number, completionTokens: number): TokenCounts => ({
  promptTokens,
  completionTokens,
  totalTokens: promptTokens + completionTokens,
  cacheCreationInputTokens: 0,
  cacheReadInputTokens: 0,
});

export const textStep = (text: string): ChatEvent => ({ type: 'text', text });

export const thinkingStep = (text: string): ChatEvent => ({ type: 'thinking', text });

export const callStep = (name: string, args: JsonObject | string = {}, id = `call_${name}`): ChatEvent => ({
  type: 'tool_call',
  call: { id, name, args },
});

export const finishStep = (finishReason: FinishReason = 'stop', usage = tokens(10, 5)): ChatEvent => ({
  type: 'finish',
  finishReason,
  usage,
});

/** A whole answer in pieces. */
export const say = (...pieces: readonly string[]): ScriptStep[] => [...pieces.map(textStep), finishStep()];

/** A whole answer that calls tools. */
export const callTools = (...calls: readonly ChatEvent[]): ScriptStep[] => [...calls, finishStep('tool_calls')];

export const failWith = (
  fault: ProviderError['fault'],
  options: Partial<ProviderError['options']> = {},
): { readonly failure: ProviderError } => ({
  failure: new ProviderError(`the model failed: ${fault}`, fault, { retryable: true, ...options }),
});
