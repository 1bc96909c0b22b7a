import type { ChatMessage } from '../../src/harness/ports/chat-model.port.js';

/**
 * What strict providers ask of a conversation: each call of an answer has exactly one result, right behind the answer
 * and in any order; no result stands alone; two messages of the user never meet.
 * @param open ids of calls that the newest answer may still wait for
 * @returns the first fault, or undefined
 */
export function pairingFault(messages: readonly ChatMessage[], open: readonly string[] = []): string | undefined {
  let due: string[] = [];
  let isUserNext = true;
  const newest = messages.findLastIndex((message) => message.role === 'assistant' && message.toolCalls.length > 0);
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      const at = due.indexOf(message.callId);
      if (at < 0) return `message ${index}: a result of ${message.callId}, which nobody waits for`;
      due.splice(at, 1);
      continue;
    }
    if (due.length > 0) return `message ${index}: ${due.join()} got no result`;
    if (message.role === 'user') {
      if (!isUserNext) return `message ${index}: the user speaks twice`;
      isUserNext = false;
    } else {
      isUserNext = true;
      due = message.toolCalls.map((call) => call.id);
      if (index === newest) for (const id of open) due.splice(due.indexOf(id), 1);
    }
  }
  return due.length === 0 ? undefined : `at the end: ${due.join()} got no result`;
}
