import type { ChatRequest } from '../../ports/chat-model.port.js';

/**
 * Which old answers carry their thinking back as `reasoning_content`. Thinking models want it beside the tool calls
 * that it led to, and only there; others refuse the field.
 */
export type ThinkingField = 'where_known' | 'always' | 'never';

const MISSING = /missing|must|requir|need|lack/i;

/**
 * What to try after the provider refused a request; undefined when the field is not why.
 * @param body the provider's own words
 */
export function thinkingFieldAfter(
  tried: ThinkingField,
  request: ChatRequest,
  body: string,
): ThinkingField | undefined {
  if (tried !== 'where_known' || !body.includes('reasoning_content')) return undefined;
  const asking = request.messages.filter((message) => message.role === 'assistant' && message.toolCalls.length > 0);
  const known = asking.filter((message) => message.role === 'assistant' && message.thinking !== undefined).length;
  if (asking.length === 0) return undefined;
  if (known === 0) return 'always';
  return known < asking.length && MISSING.test(body) ? 'always' : 'never';
}
