import { isJsonObject, type Json, type JsonObject } from '../../../src/common/json.js';
import type { ChatEvent, ChatMessage, ChatRequest } from '../../../src/harness/ports/chat-model.port.js';
import { call, counts, crash, isUser, responseOf, shownPictures, TableModel, textsOf, thirds } from './table-model.js';

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
