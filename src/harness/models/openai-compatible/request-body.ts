import type { ChatMessage, ChatPart, ChatRequest, ChatToolCall } from '../../ports/chat-model.port.js';
import { EMPTY_MESSAGE, isSaid, wireArguments, wireToolName } from '../provider/wire-words.js';
import type { ThinkingField } from './thinking-field.js';

type Assistant = Extract<ChatMessage, { role: 'assistant' }>;

/** Stands for thinking that nobody kept, where a provider insists on some. */
const NOT_KEPT = '(not kept)';

/**
 * The request as the wire wants it. Pictures are loaded here, as data URIs.
 * @param model the provider's name of the model
 */
export async function toRequestBody(
  model: string,
  request: ChatRequest,
  thinkingField: ThinkingField,
): Promise<object> {
  const system = request.system === '' ? [] : [{ role: 'system', content: request.system }];
  const messages = await Promise.all(
    request.messages.filter(isSaid).map((message) => toWireMessage(message, thinkingField)),
  );
  const tools = request.tools.map((tool) => ({ type: 'function', function: tool }));
  return {
    model,
    messages: [...system, ...messages],
    ...(tools.length > 0 && { tools }),
    stream: true,
    stream_options: { include_usage: true },
  };
}

async function toWireMessage(message: ChatMessage, thinkingField: ThinkingField): Promise<object> {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: await toContent(message.parts) };
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.text };
    case 'assistant':
      return toWireAnswer(message, thinkingField);
  }
}

function toWireAnswer({ text, thinking, toolCalls }: Assistant, thinkingField: ThinkingField): object {
  if (toolCalls.length === 0) return { role: 'assistant', content: text };
  const isSent = thinkingField === 'always' || (thinkingField === 'where_known' && thinking !== undefined);
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(isSent && { reasoning_content: thinking ?? NOT_KEPT }),
    tool_calls: toolCalls.map(toWireCall),
  };
}

async function toContent(parts: readonly ChatPart[]): Promise<string | object[]> {
  const filled = parts.filter((part) => part.kind !== 'text' || part.text !== '');
  if (filled.length === 0) return EMPTY_MESSAGE;
  if (filled.every((part) => part.kind === 'text')) return filled.map((part) => part.text).join('\n');
  return Promise.all(
    filled.map(async (part) => {
      if (part.kind === 'text') return { type: 'text', text: part.text };
      const { mimeType, bytes } = await part.load();
      const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
      return { type: 'image_url', image_url: { url: `data:${mimeType};base64,${base64}` } };
    }),
  );
}

function toWireCall({ id, name, args }: ChatToolCall): object {
  const called = { name: wireToolName(name), arguments: JSON.stringify(wireArguments(args)) };
  return { id, type: 'function', function: called };
}
