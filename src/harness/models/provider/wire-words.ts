import { isJsonObject, type JsonObject } from '../../../common/json.js';
import type { FinishReason } from '../../../events/values.js';
import type { ChatMessage } from '../../ports/chat-model.port.js';

/** Stands for a message of which nothing is left: providers refuse empty texts. */
export const EMPTY_MESSAGE = '(empty message)';

/** A tool's name as every provider accepts it: history may hold names that a model made up. */
export const wireToolName = (name: string): string => name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unnamed';

/** Providers parse the arguments of old calls: a text that is no JSON object is wrapped. */
export const wireArguments = (args: JsonObject | string): JsonObject =>
  typeof args === 'string' ? { invalid_arguments: args } : args;

/** The arguments as an object; no text and `null` are none at all; anything else stays the text that it is. */
export function parseArguments(text: string): JsonObject | string {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (value === null) return {};
    return isJsonObject(value) ? value : text;
  } catch {
    return text;
  }
}

/** False for an assistant message without text and calls, which providers refuse. */
export function isSaid(message: ChatMessage): boolean {
  return message.role !== 'assistant' || message.text !== '' || message.toolCalls.length > 0;
}

/** Why an answer is not all that it might have been, for people. */
export const FINISH_NOTES: Partial<Record<FinishReason, string>> = {
  length: 'Maximum tokens reached',
  content_filter: 'The provider filtered the answer',
};
