import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../../../common/json.js';
import type { ChatToolCall } from '../../ports/chat-model.port.js';
import type { CallFragment } from './chunk.js';

interface OpenCall {
  id: string;
  name: string;
  argsText: string;
}

/**
 * Puts tool calls together from their fragments. Providers disagree on what a fragment carries: some send no `index`,
 * some the same index for every call, some no id, some repeat the whole call at the end.
 */
export class CallAssembler {
  private readonly calls: OpenCall[] = [];
  private readonly byIndex = new Map<number, OpenCall>();

  add(fragment: CallFragment): void {
    const id = fragment.id ?? '';
    const name = fragment.function?.name ?? '';
    const piece = textOf(fragment.function?.arguments);
    const call = this.find(fragment, id, name, piece) ?? this.open(fragment.index);
    call.id ||= id;
    call.name ||= name;
    // A whole object is never the beginning of a longer one: what comes again under the same name is a repetition.
    if (isWhole(call.argsText) && (id !== '' || name !== ''))
      call.argsText = piece.trim() === '' ? call.argsText : piece;
    else call.argsText += piece;
  }

  /** The calls in the order of their first fragments. */
  finish(): ChatToolCall[] {
    const taken = new Set(['']);
    return this.calls.map(({ id, name, argsText }) => {
      // Results are matched by id: one that is missing, or that another call has, is replaced.
      const ownId = taken.has(id) ? `call_${randomUUID()}` : id;
      taken.add(ownId);
      return { id: ownId, name, args: parseArguments(argsText) };
    });
  }

  private find({ index }: CallFragment, id: string, name: string, piece: string): OpenCall | undefined {
    const isSame = (call: OpenCall): boolean =>
      call.id === id && (name === '' || call.name === '' || call.name === name);
    const sameId = id === '' ? undefined : this.calls.find(isSame);
    if (sameId !== undefined) return sameId;
    const known = typeof index === 'number' ? this.byIndex.get(index) : this.calls.at(-1);
    if (known === undefined || (id !== '' && known.id !== '')) return undefined;
    if (name === '' || known.name === '') return known;
    const isRepetition = name === known.name && (!isWhole(known.argsText) || piece.trim() === known.argsText.trim());
    return isRepetition ? known : undefined;
  }

  private open(index: number | null | undefined): OpenCall {
    const call = { id: '', name: '', argsText: '' };
    this.calls.push(call);
    if (typeof index === 'number') this.byIndex.set(index, call);
    return call;
  }
}

/** The arguments as an object; no text and `null` are none at all; anything else stays the text that it is. */
export function parseArguments(text: string): JsonObject | string {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (value === null) return {};
    return isJsonObject(value) ? value : text;
  } catch {
    return text;
  }
}

function textOf(args: string | Record<string, unknown> | null | undefined): string {
  return typeof args === 'string' ? args : args == null ? '' : JSON.stringify(args);
}

const isWhole = (text: string): boolean => text.trimEnd().endsWith('}') && typeof parseArguments(text) !== 'string';
