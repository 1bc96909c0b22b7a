import { randomUUID } from 'node:crypto';
import type { LanguageModelV3FinishReason, LanguageModelV3StreamPart, LanguageModelV3Usage } from '@ai-sdk/provider';
import type { FinishReason, TokenCounts } from '../../../events/values.js';
import type { ChatEvent, ChatToolCall } from '../../ports/chat-model.port.js';
import { badFrame, cutError, reportedError } from '../provider/provider-faults.js';
import { FINISH_NOTES, parseArguments } from '../provider/wire-words.js';

/** What a frame of the wire itself tells; the SDK leaves it out or tells it too late. */
export interface FrameFacts {
  /** The frame ends the answer: whatever comes after it adds nothing but numbers. */
  readonly isEnd?: boolean;
  /** The model's name as the provider reports it. */
  readonly model?: string | undefined;
}

const FINISH_REASONS: Readonly<Record<LanguageModelV3FinishReason['unified'], FinishReason>> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'content_filter',
  'tool-calls': 'tool_calls',
  error: 'other',
  other: 'other',
};

/** Reads the parts of one answer into chat events. Tool calls wait for the end mark. */
export class PartReader {
  private readonly calls: ChatToolCall[] = [];
  private finish: Extract<LanguageModelV3StreamPart, { type: 'finish' }> | undefined;
  private model: string | undefined;
  private isMarked = false;

  /** @param factsOf reads a frame of the provider's wire */
  constructor(private readonly factsOf: (frame: unknown) => FrameFacts) {}

  /** True once the wire's own end mark came. */
  get isWhole(): boolean {
    return this.isMarked;
  }

  /** True once everything was read. */
  get isEnded(): boolean {
    return this.finish !== undefined;
  }

  /** @throws ProviderError for frames that are not understood or report an error */
  *push(part: LanguageModelV3StreamPart): Generator<ChatEvent> {
    switch (part.type) {
      case 'raw':
        this.see(part.rawValue);
        break;
      case 'text-delta':
        if (part.delta !== '') yield { type: 'text', text: part.delta };
        break;
      case 'reasoning-delta':
        if (part.delta !== '') yield { type: 'thinking', text: part.delta };
        break;
      case 'tool-call':
        if (part.providerExecuted !== true) this.add(part);
        break;
      case 'error':
        throw badFrame(part.error);
      case 'finish':
        this.finish = part;
        break;
      default:
    }
  }

  /**
   * The end of the stream: tool calls, finish.
   * @throws ProviderError `cut` when the end mark is missing, `bad_frame` when the model made an unreadable call
   */
  *end(): Generator<ChatEvent> {
    if (!this.isMarked || this.finish === undefined) throw cutError();
    const { finishReason, usage } = this.finish;
    if (finishReason.unified === 'error') throw badFrame(new Error(`finish reason ${finishReason.raw}`));
    for (const call of this.calls) yield { type: 'tool_call', call };
    const counts = toTokenCounts(usage);
    const reason = FINISH_REASONS[finishReason.unified];
    const note = FINISH_NOTES[reason];
    yield {
      type: 'finish',
      finishReason: reason === 'stop' && this.calls.length > 0 ? 'tool_calls' : reason,
      ...(counts && { usage: counts }),
      ...(this.model !== undefined && { modelVersion: this.model }),
      ...(note !== undefined && { note }),
    };
  }

  private see(frame: unknown): void {
    const { error } = (frame ?? {}) as { error?: unknown };
    if (error !== undefined && error !== null) throw reportedError(error);
    const { isEnd, model } = this.factsOf(frame);
    this.isMarked ||= isEnd === true;
    this.model ??= model;
  }

  /** The same call again under the same id is the same call; another one that took its id gets its own. */
  private add({ toolCallId, toolName, input }: { toolCallId: string; toolName: string; input: string }): void {
    const args = parseArguments(input);
    const sameId = this.calls.find(({ id }) => id === toolCallId);
    if (sameId?.name === toolName && JSON.stringify(sameId.args) === JSON.stringify(args)) return;
    const isTaken = toolCallId === '' || sameId !== undefined;
    this.calls.push({ id: isTaken ? `call_${randomUUID()}` : toolCallId, name: toolName, args });
  }
}

function toTokenCounts({ inputTokens, outputTokens }: LanguageModelV3Usage): TokenCounts | undefined {
  const promptTokens = inputTokens.total ?? 0;
  const completionTokens = outputTokens.total ?? 0;
  if (promptTokens + completionTokens === 0) return undefined;
  return {
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    cacheCreationInputTokens: inputTokens.cacheWrite ?? 0,
    cacheReadInputTokens: inputTokens.cacheRead ?? 0,
  };
}
