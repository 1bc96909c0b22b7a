import { isJsonObject, type Json, type JsonObject } from '../../../src/common/json.js';
import type { FinishReason, TokenCounts } from '../../../src/events/values.js';
import {
  ChatModel,
  ProviderError,
  type ChatEvent,
  type ChatMessage,
  type ChatToolCall,
} from '../../../src/harness/ports/chat-model.port.js';

/** The peer's model, played by its table of scripts: the newest text of the user says what it does. */
export abstract class TableModel extends ChatModel {
  readonly acceptsPictures = true;

  protected finish(more: { finishReason?: FinishReason; usage?: TokenCounts; note?: string } = {}): ChatEvent {
    return { type: 'finish', finishReason: 'stop', modelVersion: this.name, ...more };
  }

  protected *say(text: string, more: { usage?: TokenCounts } = {}): Iterable<ChatEvent> {
    for (const piece of thirds(text)) yield { type: 'text', text: piece };
    yield this.finish(more);
  }
}

export const thirds = (text: string): string[] => {
  const letters = Array.from(text);
  const size = Math.max(1, Math.ceil(letters.length / 3));
  const pieces: string[] = [];
  for (let at = 0; at < letters.length; at += size) pieces.push(letters.slice(at, at + size).join(''));
  return pieces;
};

export const call = (name: string, args?: Json, id?: string): ChatEvent => ({
  type: 'tool_call',
  call: { id: id ?? '', name, args: isJsonObject(args) ? args : '' } satisfies ChatToolCall,
});

export const crash = (message: string): Error => new ProviderError(message, 'other', { retryable: false });

export type UserMessage = Extract<ChatMessage, { role: 'user' }>;
type ToolMessage = Extract<ChatMessage, { role: 'tool' }>;

export const isUser = (message: ChatMessage): message is UserMessage =>
  message.role === 'user' && message.fromHarness !== true;
export const textsOf = (message: UserMessage): string[] =>
  message.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));

/** A tool's result as the peer's model gets it: always an object. */
export function responseOf({ text, isError }: ToolMessage): JsonObject {
  if (isError) return { error: text };
  try {
    const value = JSON.parse(text) as Json;
    return isJsonObject(value) ? value : { result: value };
  } catch {
    return { result: text };
  }
}

export const counts = (promptTokens: number, completionTokens: number): TokenCounts => ({
  promptTokens,
  completionTokens,
  totalTokens: promptTokens + completionTokens,
  cacheCreationInputTokens: 0,
  cacheReadInputTokens: 0,
});

/** What a model tells of the pictures that it got. */
export async function shownPictures(
  message: UserMessage,
  tell: (mimeType: string, bytes: number) => string,
): Promise<string> {
  const told: string[] = [];
  for (const part of message.parts)
    if (part.kind === 'image') told.push(tell(part.mimeType, (await part.load()).bytes.length));
  return told.join('; ');
}
