import type {
  LanguageModelV3FilePart,
  LanguageModelV3FunctionTool,
  LanguageModelV3Message,
  LanguageModelV3TextPart,
  LanguageModelV3ToolResultPart,
} from '@ai-sdk/provider';
import type { ChatMessage, ChatPart, ChatRequest, ToolDeclaration } from '../../ports/chat-model.port.js';
import { EMPTY_MESSAGE, wireArguments, wireToolName } from '../provider/wire-words.js';

type Assistant = Extract<ChatMessage, { role: 'assistant' }>;
type ToolResult = Extract<ChatMessage, { role: 'tool' }>;

/** The conversation as the SDK wants it; pictures are loaded here. */
export async function toPrompt({ system, messages }: ChatRequest): Promise<LanguageModelV3Message[]> {
  const prompt: LanguageModelV3Message[] = system.trim() === '' ? [] : [{ role: 'system', content: system }];
  for (const message of messages) {
    const said = await toMessage(message);
    if (said === undefined) continue;
    const before = prompt.at(-1);
    // The results of one answer's calls are one message: Google counts them.
    if (said.role === 'tool' && before?.role === 'tool') before.content.push(...said.content);
    else prompt.push(...(startsWithoutUser(prompt, said) ? [userMessage([])] : []), said);
  }
  return prompt;
}

export const toTools = (tools: readonly ToolDeclaration[]): LanguageModelV3FunctionTool[] =>
  tools.map(({ name, description, parameters }) => ({
    type: 'function',
    name,
    description,
    inputSchema: parameters,
  }));

/** A conversation begins with the user; one that was imported may not. */
function startsWithoutUser(prompt: readonly LanguageModelV3Message[], said: LanguageModelV3Message): boolean {
  return said.role !== 'user' && prompt.every(({ role }) => role === 'system');
}

async function toMessage(message: ChatMessage): Promise<LanguageModelV3Message | undefined> {
  switch (message.role) {
    case 'user':
      return userMessage(await Promise.all(message.parts.filter(isFilled).map(toPart)));
    case 'assistant':
      return toAnswer(message);
    case 'tool':
      return { role: 'tool', content: [toResult(message)] };
  }
}

const isFilled = (part: ChatPart): boolean => part.kind !== 'text' || part.text.trim() !== '';

const userMessage = (parts: (LanguageModelV3TextPart | LanguageModelV3FilePart)[]): LanguageModelV3Message => ({
  role: 'user',
  content: parts.length > 0 ? parts : [{ type: 'text', text: EMPTY_MESSAGE }],
});

async function toPart(part: ChatPart): Promise<LanguageModelV3TextPart | LanguageModelV3FilePart> {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  const { mimeType, bytes } = await part.load();
  return { type: 'file', mediaType: mimeType, data: bytes };
}

function toAnswer({ text, toolCalls }: Assistant): LanguageModelV3Message | undefined {
  // Providers refuse a text of blanks, and a message of nothing.
  if (text.trim() === '' && toolCalls.length === 0) return undefined;
  const calls = toolCalls.map(({ id, name, args }) => ({
    type: 'tool-call' as const,
    toolCallId: wireCallId(id),
    toolName: wireToolName(name),
    input: wireArguments(args),
  }));
  return { role: 'assistant', content: [...(text.trim() === '' ? [] : [{ type: 'text' as const, text }]), ...calls] };
}

const toResult = ({ callId, toolName, text, isError }: ToolResult): LanguageModelV3ToolResultPart => ({
  type: 'tool-result',
  toolCallId: wireCallId(callId),
  toolName: wireToolName(toolName),
  output: { type: isError ? 'error-text' : 'text', value: text },
});

/** History may hold ids of another provider, and Anthropic takes letters, digits, `_` and `-` only. */
const wireCallId = (id: string): string =>
  /^[a-zA-Z0-9_-]+$/.test(id) ? id : `call_${Buffer.from(id).toString('base64url')}`;
