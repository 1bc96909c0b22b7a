import { isJsonObject, type JsonObject } from '../../common/json.js';
import type { ChatMessage, ChatPart, ChatToolCall } from '../ports/chat-model.port.js';

/** What a model reads of an event that a client imported in the ADK form; events without content say nothing. */
export function importedMessages(event: JsonObject): readonly ChatMessage[] {
  const content = event['content'];
  if (!isJsonObject(content)) return [];
  const parts = Array.isArray(content['parts']) ? content['parts'].filter(isJsonObject) : [];
  const results = parts.flatMap(toolResult);
  if (event['author'] === 'user' || content['role'] === 'user') {
    const texts = parts.flatMap(userText);
    return [...results, ...(texts.length === 0 ? [] : [{ role: 'user' as const, parts: texts }])];
  }
  const answer = assistantMessage(parts);
  return answer === undefined ? results : [answer, ...results];
}

function assistantMessage(parts: readonly JsonObject[]): ChatMessage | undefined {
  const text = joined(parts.filter((part) => part['thought'] !== true));
  const thinking = joined(parts.filter((part) => part['thought'] === true));
  const toolCalls = parts.flatMap(toolCall);
  if (text === '' && toolCalls.length === 0) return undefined;
  return { role: 'assistant', text, ...(thinking === '' ? {} : { thinking }), toolCalls };
}

function userText(part: JsonObject): ChatPart[] {
  return typeof part['text'] === 'string' ? [{ kind: 'text', text: part['text'] }] : [];
}

function toolCall(part: JsonObject): ChatToolCall[] {
  const call = part['functionCall'];
  if (!isJsonObject(call) || typeof call['name'] !== 'string') return [];
  const args = call['args'];
  return [{ id: textOr(call['id'], call['name']), name: call['name'], args: isJsonObject(args) ? args : {} }];
}

function toolResult(part: JsonObject): ChatMessage[] {
  const response = part['functionResponse'];
  if (!isJsonObject(response) || typeof response['name'] !== 'string') return [];
  const value = response['response'] ?? {};
  return [
    {
      role: 'tool',
      callId: textOr(response['id'], response['name']),
      toolName: response['name'],
      text: JSON.stringify(value),
      isError: isJsonObject(value) && 'error' in value,
    },
  ];
}

function joined(parts: readonly JsonObject[]): string {
  return parts.map((part) => (typeof part['text'] === 'string' ? part['text'] : '')).join('');
}

function textOr(value: unknown, fallback: string): string {
  return typeof value === 'string' && value !== '' ? value : fallback;
}
