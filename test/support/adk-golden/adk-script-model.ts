import { isJsonObject, type Json, type JsonObject } from '../../../src/common/json.js';
import type { ChatEvent, ChatMessage, ChatRequest } from '../../../src/harness/ports/chat-model.port.js';
import {
  call,
  counts,
  crash,
  isUser,
  responseOf,
  shownPictures,
  TableModel,
  textsOf,
  thirds,
  type UserMessage,
} from './table-model.js';

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
    for (const { name, args, id } of wanted) yield call(name as string, args, typeof id === 'string' ? id : undefined);
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

const mimeAndBytes = (mimeType: string, bytes: number): string => `mime=${mimeType} bytes=${bytes}`;
