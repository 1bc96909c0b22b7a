import type { ChatEvent, ChatToolCall } from '../ports/chat-model.port.js';
import { WellFormedText } from './well-formed.js';

export type TextKind = 'text' | 'thinking';

/** The pieces of one model answer, put together as they come. */
export class Answer {
  text = '';
  thinking = '';
  finish: Extract<ChatEvent, { type: 'finish' }> | undefined;
  readonly calls: ChatToolCall[] = [];
  private readonly pieces = { text: new WellFormedText(), thinking: new WellFormedText() };

  /** True once something was shown to the user. */
  get isShown(): boolean {
    return this.text !== '' || this.thinking !== '';
  }

  /** True once asking again would repeat something. */
  get hasContent(): boolean {
    return this.isShown || this.calls.length > 0;
  }

  /** Adds a piece of text; returns what of it can be shown now. */
  add(kind: TextKind, piece: string): string {
    const whole = this.pieces[kind].push(piece);
    this[kind] += whole;
    return whole;
  }

  /** Adds what was held back; returns it. */
  flush(kind: TextKind): string {
    const rest = this.pieces[kind].flush();
    this[kind] += rest;
    return rest;
  }
}
