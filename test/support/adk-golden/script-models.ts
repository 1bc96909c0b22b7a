import { isJsonObject, type Json, type JsonObject } from '../../../src/common/json.js';
import {
  ChatModel,
  ProviderError,
  type ChatEvent,
  type ChatMessage,
  type ChatRequest,
  type ChatToolCall,
} from '../../../src/harness/ports/chat-model.port.js';
import type { FinishReason, TokenCounts } from '../../../src/events/values.js';

/** The peer's model, played by its table of scripts: the newest text of the user says what it does. */
abstract class TableModel extends ChatModel {
  readonly acceptsPictures = true;

  protected finish(more: { finishReason?: FinishReason; usage?: TokenCounts; note?: string } = {}): ChatEvent {
    return { type: 'finish', finishReason: 'stop', modelVersion: this.name, ...more };
  }

  protected *say(text: string, more: { usage?: TokenCounts } = {}): Iterable<ChatEvent> {
    for (const piece of thirds(text)) yield { type: 'text', text: piece };
    yield this.finish(more);
  }
}

const thirds = (text: string): string[] => {
  const letters = Array.from(text);
  const size = Math.max(1, Math.ceil(letters.length / 3));
  const pieces: string[] = [];
  for (let at = 0; at < letters.length; at += size) pieces.push(letters.slice(at, at + size).join(''));
  return pieces;
};

const call = (name: string, args?: Json, id?: string): ChatEvent => ({
  type: 'tool_call',
  call: { id: id ?? '', name, args: isJsonObject(args) ? args : '' } satisfies ChatToolCall,
});

const crash = (message: string): Error => new ProviderError(message, 'other', { retryable: false });

type UserMessage = Extract<ChatMessage, { role: 'user' }>;
type ToolMessage = Extract<ChatMessage, { role: 'tool' }>;

const isUser = (message: ChatMessage): message is UserMessage =>
  message.role === 'user' && message.fromHarness !== true;
const textsOf = (message: UserMessage): string[] =>
  message.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));

/** A tool's result as the peer's model gets it: always an object. */
function responseOf({ text, isError }: ToolMessage): JsonObject {
  if (isError) return { error: text };
  try {
    const value = JSON.parse(text) as Json;
    return isJsonObject(value) ? value : { result: value };
  } catch {
    return { result: text };
  }
}

/** Plays the table of the ADK recordings. */
export class AdkScriptModel extends TableModel {
  readonly name = 'script-1';

  async *stream({ messages }: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    const at = messages.findLastIndex((message) => isUser(message) && textsOf(message).some(isScript));
    const asked = messages[at];
    if (asked?.role !== 'user') return yield* this.say('no script');
    const script = textsOf(asked).find(isScript) ?? '';
    const results = messages.slice(at + 1).filter((message) => message.role === 'tool');
    const [, word = '', argument = ''] = /^([^:]*):?(.*)$/s.exec(script) ?? [];
    signal.throwIfAborted();
    if (word === 'max') return yield* this.calls([{ name: 'add', args: { a: 1, b: 1 } }]);
    if (results.length > 0 && word !== 'slow' && word !== 'echo') {
      if (word === 'errafter') throw crash('boom: after the tool');
      return yield* this.say(`done: ${JSON.stringify({ results: results.map(responseOf) })}`);
    }
    if (word === 'image') return yield* this.say((await shownPictures(asked, mimeAndBytes)) || 'no image');
    yield* this.play(word.trim(), argument, script, messages);
  }

  private *play(word: string, argument: string, script: string, messages: readonly ChatMessage[]): Iterable<ChatEvent> {
    const parsed = (): JsonObject => JSON.parse(argument) as JsonObject;
    switch (word) {
      case 'say':
        return yield* this.say(argument);
      case 'think': {
        const [thought = '', answer = ''] = argument.split('|');
        for (const text of thirds(thought)) yield { type: 'thinking', text };
        return yield* this.say(answer);
      }
      case 'tool':
        return yield* this.calls([parsed()]);
      case 'saytool':
        yield { type: 'text', text: 'let me ' };
        yield { type: 'text', text: 'look' };
        return yield* this.calls([parsed()]);
      case 'multi':
        return yield* this.calls(JSON.parse(argument) as JsonObject[]);
      case 'tools2':
        return yield* this.calls([
          { name: 'get_weather', args: { city: 'Paris' }, id: 'call_a' },
          { name: 'add', args: { a: 1, b: 2 }, id: 'call_b' },
        ]);
      case 'slowtool':
        return yield* this.calls([{ name: 'sleep', args: { ms: Number(argument) } }]);
      case 'err':
        throw crash('boom: "quoted" é漢 line1\nline2');
      case 'errmid':
        yield { type: 'text', text: 'par' };
        yield { type: 'text', text: 'tial' };
        throw crash('boom: mid stream');
      case 'errafter':
        return yield* this.calls([{ name: 'add', args: { a: 1, b: 2 }, id: 'call_a' }]);
      case 'errcode':
        return yield this.finish({ finishReason: 'content_filter', note: 'blocked by safety' });
      case 'maxtokens':
        yield { type: 'text', text: 'cut of' };
        return yield this.finish({ finishReason: 'length', note: 'Maximum tokens reached' });
      case 'artifact': {
        const [filename = '', ...text] = argument.split('|');
        return yield* this.calls([{ name: 'save_text', args: { filename, text: text.join('|') }, id: 'call_a' }]);
      }
      case 'state': {
        const [key = '', ...value] = argument.split('=');
        return yield* this.calls([{ name: 'set_state', args: { key, value: value.join('=') }, id: 'call_a' }]);
      }
      case 'usage': {
        const [prompt = 0, completion = 0] = argument.split(':').map(Number);
        return yield* this.say('used', { usage: counts(prompt, completion) });
      }
      case 'long':
        for (let index = 1; index <= 30; index += 1) yield { type: 'text', text: `w${index} ` };
        return yield this.finish();
      case 'echo':
        yield { type: 'text', text: JSON.stringify(shownContents(messages)) };
        return yield this.finish();
      case 'unicode':
        return yield* this.say('é漢字😀 </b>&\u2028\u2029\u0085\u007f\u0001 "q" \\ /\tend\r\n');
      case 'empty':
      case 'blank':
      case 'nocontent':
      case 'none':
        return yield this.finish();
      default:
        return yield* ACTIONS[word] ? this.calls([ACTIONS[word]]) : this.say(script);
    }
  }

  private *calls(wanted: readonly JsonObject[]): Iterable<ChatEvent> {
    for (const { name, args, id } of wanted) yield call(String(name), args, typeof id === 'string' ? id : undefined);
    yield this.finish({ finishReason: 'tool_calls' });
  }
}

/** Scripts that are one call. */
const ACTIONS: Readonly<Record<string, JsonObject>> = {
  confirm: { name: 'delete_thing', args: { id: '7' }, id: 'call_a' },
  confirmx: { name: 'ask_payload', args: { days: 3 }, id: 'call_a' },
  longrun: { name: 'start_ticket', args: { topic: 'x' }, id: 'call_a' },
  auth: { name: 'need_auth', args: {}, id: 'call_a' },
  input: { name: 'adk_request_input', args: { message: 'which colour?' }, id: 'call_a' },
  transfer: { name: 'transfer_to_agent', args: { agent_name: 'helper' }, id: 'call_a' },
};

const isScript = (text: string): boolean => text !== '' && !text.startsWith('For context:') && !text.startsWith('[');

const counts = (promptTokens: number, completionTokens: number): TokenCounts => ({
  promptTokens,
  completionTokens,
  totalTokens: promptTokens + completionTokens,
  cacheCreationInputTokens: 0,
  cacheReadInputTokens: 0,
});

/** The conversation in the form that the recorded model echoes. */
function shownContents(messages: readonly ChatMessage[]): { role: string; parts: string[] }[] {
  const contents: { role: string; parts: string[]; ofTools?: boolean }[] = [];
  for (const message of messages) {
    if (message.role === 'user') contents.push({ role: 'user', parts: message.parts.map(shownPart) });
    else if (message.role === 'assistant') contents.push({ role: 'model', parts: shownAnswer(message) });
    else {
      const shown = `response:${message.toolName}${python(responseOf(message))}`;
      const last = contents.at(-1);
      if (last?.ofTools === true) last.parts.push(shown);
      else contents.push({ role: 'user', parts: [shown], ofTools: true });
    }
  }
  return contents.map(({ role, parts }) => ({ role, parts }));
}

const shownPart = (part: UserMessage['parts'][number]): string =>
  part.kind === 'text' ? `text:${part.text}` : `inline:${part.mimeType}`;

const shownAnswer = ({ thinking, text, toolCalls }: Extract<ChatMessage, { role: 'assistant' }>): string[] => [
  ...(thinking === undefined ? [] : [`thought:${thinking}`]),
  ...(text === '' ? [] : [`text:${text}`]),
  ...toolCalls.map(({ name, args }) => `call:${name}${python(isJsonObject(args) ? args : {})}`),
];

/** JSON with sorted keys and blanks after the separators. */
function python(value: Json): string {
  if (Array.isArray(value)) return `[${value.map((item: Json) => python(item)).join(', ')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}: ${python(value[key] as Json)}`).join(', ')}}`;
}

/** Plays the table of the AgentKit recordings. */
export class SdkScriptModel extends TableModel {
  readonly name = 'scripted-1';
  private readonly usage = counts(12, 3);

  async *stream({ messages, tools, system }: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    const text = messages.filter(isUser).flatMap(textsOf).at(-1) ?? '';
    const names = tools.map(({ name }) => name);
    const asked = messages.findLastIndex(isUser);
    const results = messages.slice(asked + 1).filter((message) => message.role === 'tool');
    if (text === 'loop') return yield* this.call([[names[0] ?? 'nothing', { city: 'Oslo' }]]);
    if (results.length > 0) {
      const said = results.map((result) => ({ [result.toolName]: responseOf(result) }));
      return yield* this.answer(`tools said: ${inOrder(said)}`);
    }
    const argument = text.slice(text.indexOf(':') + 1);
    if (text.startsWith('say:')) return yield* this.answer(argument);
    if (text.startsWith('slow:')) return yield* this.slowly(argument, signal);
    if (text.startsWith('tool:')) {
      const [, name = '', args] = /^\s*(\S+)\s*(.*)$/s.exec(argument) ?? [];
      return yield* this.call([[name, JSON.parse(args || '{}') as JsonObject]]);
    }
    switch (text) {
      case 'two tools':
        return yield* this.call(names.slice(0, 2).map((name) => [name, { city: 'Oslo' }]));
      case 'err':
        throw crash('scripted failure: "quoted" 模型\nsecond line');
      case 'err-plain':
        throw crash('boom');
      case 'err-mid':
        yield { type: 'text', text: 'half ' };
        throw crash('boom mid stream');
      case 'err-response':
        return yield this.finish({ finishReason: 'length', note: 'Maximum tokens reached' });
      case 'think':
        yield { type: 'thinking', text: 'let me think' };
        return yield* this.answer('answer after thinking');
      case 'image':
        return yield* this.answer((await this.pictures(messages[asked])) || 'no image');
      case 'echo-system':
        return yield* this.answer(`system='${system}'`);
      case 'empty':
        return yield this.finish({ usage: this.usage });
      case 'two texts':
        yield { type: 'text', text: 'first text' };
        yield { type: 'text', text: 'second text' };
        return yield this.finish({ usage: this.usage });
      default:
        return yield* this.answer(`echo: ${text}`);
    }
  }

  private answer(text: string): Iterable<ChatEvent> {
    return this.say(text, { usage: this.usage });
  }

  private async pictures(message: ChatMessage | undefined): Promise<string> {
    if (message?.role !== 'user') return '';
    return shownPictures(message, (mimeType, bytes) => `${mimeType} ${bytes} bytes`);
  }

  private async *slowly(text: string, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    for (const piece of thirds(text)) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      signal.throwIfAborted();
      yield { type: 'text', text: piece };
    }
    yield this.finish({ usage: this.usage });
  }

  private *call(wanted: readonly (readonly [string, JsonObject])[]): Iterable<ChatEvent> {
    for (const [name, args] of wanted) yield call(name, args);
    yield this.finish({ finishReason: 'tool_calls', usage: this.usage });
  }
}

/** JSON with blanks after the separators, keys as they come. */
function inOrder(value: Json): string {
  if (Array.isArray(value)) return `[${value.map((item: Json) => inOrder(item)).join(', ')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, item]) => `${JSON.stringify(key)}: ${inOrder(item)}`)
    .join(', ')}}`;
}

/** What a model tells of the pictures that it got. */
async function shownPictures(message: UserMessage, tell: (mimeType: string, bytes: number) => string): Promise<string> {
  const told: string[] = [];
  for (const part of message.parts)
    if (part.kind === 'image') told.push(tell(part.mimeType, (await part.load()).bytes.length));
  return told.join('; ');
}

const mimeAndBytes = (mimeType: string, bytes: number): string => `mime=${mimeType} bytes=${bytes}`;
