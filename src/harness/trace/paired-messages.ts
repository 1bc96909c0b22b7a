import type { ChatMessage, ChatToolCall } from '../ports/chat-model.port.js';

type Assistant = Extract<ChatMessage, { role: 'assistant' }>;
type ToolMessage = Extract<ChatMessage, { role: 'tool' }>;

/**
 * Gives each tool call exactly one result, right after the answer that asked for it: strict providers refuse
 * anything else. A call without a result was not run; a result without its call is left out.
 * @param open ids of calls of the newest answer that are still to run
 */
export function pairedMessages(messages: readonly ChatMessage[], open: ReadonlySet<string>): readonly ChatMessage[] {
  const lastAsking = messages.findLastIndex((message) => message.role === 'assistant' && message.toolCalls.length > 0);
  return messages.flatMap((message, index): ChatMessage[] => {
    if (message.role === 'tool') return [];
    if (message.role !== 'assistant' || message.toolCalls.length === 0) return [message];
    const results = resultsAfter(messages, index);
    return [message, ...answersOf(message, results, index === lastAsking ? open : new Set())];
  });
}

function resultsAfter(messages: readonly ChatMessage[], index: number): ToolMessage[] {
  const results: ToolMessage[] = [];
  for (const message of messages.slice(index + 1)) {
    if (message.role !== 'tool') break;
    results.push(message);
  }
  return results;
}

function answersOf(message: Assistant, results: ToolMessage[], open: ReadonlySet<string>): ToolMessage[] {
  return message.toolCalls.flatMap((call) => {
    const found = results.findIndex((result) => result.callId === call.id);
    if (found >= 0) return results.splice(found, 1);
    return open.has(call.id) ? [] : [notRun(call)];
  });
}

function notRun(call: ChatToolCall): ToolMessage {
  return { role: 'tool', callId: call.id, toolName: call.name, text: 'not run: cancelled', isError: true };
}
