import { randomUUID } from 'node:crypto';
import type { ChatToolCall } from '../../ports/chat-model.port.js';
import { parseArguments } from '../provider/wire-words.js';
import type { CallFragment } from './chunk.js';

interface OpenCall {
  id: string;
  name: string;
  argsText: string;
}

interface Piece {
  readonly index: number | null | undefined;
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

/**
 * Puts tool calls together from their fragments. Providers disagree on what a fragment carries: some send no `index`,
 * some the same index for every call, some no id, some repeat the whole call at the end.
 */
export class CallAssembler {
  private readonly calls: OpenCall[] = [];
  private readonly byIndex = new Map<number, OpenCall>();

  /** Adds the fragments of one frame. */
  add(fragments: readonly CallFragment[]): void {
    const ofThisFrame = new Set<OpenCall>();
    for (const { index, id, function: called } of fragments) {
      const piece = { index, id: id ?? '', name: called?.name ?? '', args: textOf(called?.arguments) };
      const call = this.find(piece, ofThisFrame) ?? this.open(index);
      call.id ||= piece.id;
      call.name ||= piece.name;
      call.argsText = joinArguments(call.argsText, piece);
      ofThisFrame.add(call);
    }
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

  private find({ index, id, name, args }: Piece, ofThisFrame: ReadonlySet<OpenCall>): OpenCall | undefined {
    const isSame = (call: OpenCall): boolean =>
      call.id === id && (name === '' || call.name === '' || call.name === name);
    const sameId = id === '' ? undefined : this.calls.find(isSame);
    if (sameId !== undefined) return sameId;
    const known = typeof index === 'number' ? this.byIndex.get(index) : this.calls.at(-1);
    if (known === undefined || (id !== '' && known.id !== '')) return undefined;
    if (name === '' || known.name === '') return known;
    // A name again and no id: a new call, unless it goes on with the old one or repeats it later.
    if (name !== known.name || ofThisFrame.has(known)) return undefined;
    return !isWhole(known.argsText) || args.trim() === known.argsText.trim() ? known : undefined;
  }

  private open(index: number | null | undefined): OpenCall {
    const call = { id: '', name: '', argsText: '' };
    this.calls.push(call);
    if (typeof index === 'number') this.byIndex.set(index, call);
    return call;
  }
}

/** Appends a piece; a whole object is never the beginning of a longer one, so what follows it replaces it. */
function joinArguments(soFar: string, { id, name, args }: Piece): string {
  const isRepeated = isWhole(soFar) && (id !== '' || name !== '' || soFar.trim() === '{}');
  if (!isRepeated) return soFar + args;
  return args.trim() === '' ? soFar : args;
}

function textOf(args: string | Record<string, unknown> | null | undefined): string {
  if (typeof args === 'string') return args;
  return args ? JSON.stringify(args) : '';
}

const isWhole = (text: string): boolean => text.trimEnd().endsWith('}') && typeof parseArguments(text) !== 'string';
