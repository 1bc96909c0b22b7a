import { ConfigError } from './config-error.js';
import { HIDDEN, isSecretName } from './secret-names.js';
import { type Leaf, leafOf } from './settings.js';
import { readText } from './yaml-source.js';

/** Where a value was set, weakest first. */
export type Rank = 'default' | 'file' | 'environment';

/** One value of a key, with the place that set it. */
export interface Assignment {
  readonly value: unknown;
  readonly rank: Rank;
  /** For people: `BRIDLE_RUNS_LEASE_MS`, `bridle.yaml line 3`. */
  readonly place: string;
}

/** The configuration while it is being put together: checked values by key. */
export class Draft {
  private readonly assignments = new Map<string, Assignment>();

  /**
   * Sets a key, over whatever was set before.
   * @throws ConfigError when the value is not accepted
   */
  set(key: string, raw: unknown, rank: Rank, place: string): void {
    this.assignments.set(key, { value: checked(leafOf(key), raw, place), rank, place });
  }

  /**
   * Sets a key by another name of it.
   * @throws ConfigError when the key itself was set to a different value
   */
  alias(key: string, raw: unknown, place: string): void {
    const value = checked(leafOf(key), raw, place);
    const present = this.assignments.get(key);
    if (present !== undefined && present.rank !== 'default') {
      if (JSON.stringify(present.value) === JSON.stringify(value)) return;
      const [ours, theirs] = [show(leafOf(key), present.value), show(leafOf(key), value)];
      throw new ConfigError(
        `${key} has two values: ${ours} from ${present.place} and ${theirs} from ${place}; set one of them, or both alike`,
      );
    }
    this.assignments.set(key, { value, rank: 'environment', place });
  }

  /** Sets a key that nobody set, from another key. */
  derive(key: string, value: unknown, place: string): void {
    if (!this.isSet(key)) this.set(key, value, 'default', place);
  }

  get(key: string): unknown {
    return this.assignments.get(key)?.value;
  }

  /** True when a file or the environment gave the key a value. */
  isSet(key: string): boolean {
    const present = this.assignments.get(key);
    return present !== undefined && present.rank !== 'default' && present.value !== undefined;
  }

  placeOf(key: string): string {
    return this.assignments.get(key)?.place ?? 'nowhere';
  }

  has(key: string): boolean {
    return this.assignments.has(key);
  }

  /** All values as nested sections. */
  toSections(): Record<string, unknown> {
    const root: Record<string, unknown> = {};
    for (const [key, { value }] of this.assignments) {
      const parts = key.split('.');
      const last = parts.pop() ?? key;
      let section = root;
      for (const part of parts) section = (section[part] ??= {}) as Record<string, unknown>;
      section[last] = value;
    }
    return root;
  }
}

function checked(leaf: Leaf, raw: unknown, place: string): unknown {
  const value = leaf.secret !== undefined && typeof raw === 'string' ? fromSecretFile(leaf, raw) : raw;
  const parsed = leaf.schema.safeParse(value === null || value === '' ? undefined : value);
  if (parsed.success) return parsed.data;
  if (leaf.notYet?.includes(String(raw)) === true) {
    throw new ConfigError(
      `${leaf.key} ${String(raw)} from ${place} is not in this version; it must be ${leaf.accepts}`,
    );
  }
  throw new ConfigError(`${leaf.key} must be ${leaf.accepts}, got ${show(leaf, raw)} from ${place}`);
}

/** The content of the file that `@/path` names, without the line break at its end; any other text as it is. */
function fromSecretFile(leaf: Leaf, text: string): unknown {
  if (!text.startsWith('@/')) return text;
  return leaf.fromText(readText(text.slice(1)).replace(/\r?\n$/, ''));
}

/** A value as an error message may show it: short, without secrets. */
function show(leaf: Leaf, value: unknown): string {
  return leaf.secret === undefined ? showValue(leaf.key, value) : HIDDEN;
}

/** A value of an unknown key as an error message may show it. */
export function showValue(name: string, value: unknown): string {
  if (isSecretName(name)) return HIDDEN;
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length <= 80 ? text : `${text.slice(0, 77)}...`;
}
