import type { FinishReason, TokenCounts } from '../../../events/values.js';
import type { ChatEvent } from '../../ports/chat-model.port.js';
import { cutError } from '../provider/provider-faults.js';
import { CallAssembler } from './call-assembler.js';
import { parseChunk, type UsageFields } from './chunk.js';
import { FINISH_NOTES } from '../provider/wire-words.js';
import { ThinkTagSplitter } from './think-tags.js';

const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  max_tokens: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
};

/** Reads the frames of one answer into chat events. Tool calls wait for the finish mark. */
export class AnswerReader {
  private readonly calls = new CallAssembler();
  private readonly splitter = new ThinkTagSplitter();
  private finishReason: string | undefined;
  private isDone = false;
  private usage: TokenCounts | undefined;
  private model: string | undefined;
  private refusal = '';

  /** True after `[DONE]`: nothing more is read. */
  get isEnded(): boolean {
    return this.isDone;
  }

  /** True once the answer is whole, even if the connection breaks now. */
  get isWhole(): boolean {
    return this.isDone || this.finishReason !== undefined;
  }

  /** @throws ProviderError for frames that are not understood or report an error */
  *push(data: string): Generator<ChatEvent> {
    if (data.trim() === '[DONE]') {
      this.isDone = true;
      return;
    }
    const { model, usage, choices } = parseChunk(data);
    this.model ??= model ?? undefined;
    if (usage) this.usage = toTokenCounts(usage);
    const choice = choices?.[0];
    const delta = choice?.delta ?? choice?.message;
    if (delta) {
      yield* this.thinking(delta.reasoning_content ?? delta.reasoning ?? '');
      yield* this.text(delta.content ?? '');
      this.refusal += delta.refusal ?? '';
      yield* this.text(delta.refusal ?? '');
      this.calls.add(delta.tool_calls ?? []);
    }
    this.finishReason = choice?.finish_reason || this.finishReason;
  }

  /**
   * The end of the stream: held text, tool calls, finish.
   * @throws ProviderError `cut` when the finish mark is missing
   */
  *end(): Generator<ChatEvent> {
    if (!this.isWhole) throw cutError();
    const { text, thinking } = this.splitter.flush();
    if (thinking !== '') yield { type: 'thinking', text: thinking };
    if (text !== '') yield { type: 'text', text };
    const calls = this.calls.finish();
    for (const call of calls) yield { type: 'tool_call', call };
    const finishReason = this.finishReason ?? (calls.length > 0 ? 'tool_calls' : 'stop');
    const reason = FINISH_REASONS[finishReason] ?? 'other';
    const note = this.refusal === '' ? FINISH_NOTES[reason] : this.refusal;
    yield {
      type: 'finish',
      finishReason: reason,
      ...(this.usage && { usage: this.usage }),
      ...(this.model !== undefined && { modelVersion: this.model }),
      ...(note !== undefined && { note }),
    };
  }

  private *thinking(text: string): Generator<ChatEvent> {
    if (text === '') return;
    this.splitter.sawThinking();
    yield { type: 'thinking', text };
  }

  private *text(piece: string): Generator<ChatEvent> {
    if (piece === '') return;
    const { text, thinking } = this.splitter.push(piece);
    if (thinking !== '') yield { type: 'thinking', text: thinking };
    if (text !== '') yield { type: 'text', text };
  }
}

function toTokenCounts(usage: UsageFields): TokenCounts {
  const promptTokens = usage.prompt_tokens ?? 0;
  const completionTokens = usage.completion_tokens ?? 0;
  return {
    promptTokens,
    completionTokens,
    totalTokens: usage.total_tokens ?? promptTokens + completionTokens,
    cacheCreationInputTokens: usage.cache_creation_input_tokens ?? 0,
    cacheReadInputTokens: usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? 0,
  };
}
