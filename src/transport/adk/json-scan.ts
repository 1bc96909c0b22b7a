/** Where and why a text is not JSON, in the words of Python's `json` module: FastAPI clients read them. */
export interface JsonFault {
  readonly message: string;
  /** Characters (code points) from the start of the text. */
  readonly offset: number;
}

/** What a JSON text may hold. */
export interface JsonLimits {
  /** Levels of nesting. */
  readonly maxDepth: number;
  /** Keys of all objects together; and, counted apart, items of all arrays. */
  readonly maxKeys: number;
}

/** The text holds more than it may. */
export class JsonTooLarge extends Error {}

class Fault extends Error {
  constructor(
    message: string,
    readonly at: number,
  ) {
    super(message);
  }
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y;
const BLANK = /[ \t\n\r]*/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const HEX4 = /[0-9a-fA-F]{4}/y;
const WORDS = ['null', 'true', 'false'];
const CLOSING = { '{': '}', '[': ']' } as const;
const [SPACE, QUOTE, BACKSLASH] = [0x20, 0x22, 0x5c];

/**
 * Reads a JSON text once, from left to right, and builds nothing: it tells whether the text may be parsed, and stops
 * where the first fault is or a limit is broken.
 */
export class JsonScan {
  private readonly open: (keyof typeof CLOSING)[] = [];
  private at = 0;
  private keys = 0;
  private items = 0;
  private values = 0;

  constructor(
    private readonly text: string,
    private readonly limits: JsonLimits,
  ) {}

  /** Keys and values read so far: the work done, apart from the length of the texts among them. */
  get steps(): number {
    return this.keys + this.values;
  }

  /**
   * @returns the first fault; undefined for JSON
   * @throws JsonTooLarge when a limit is broken before any fault
   */
  run(): JsonFault | undefined {
    try {
      this.blanks();
      do {
        if (this.value()) this.afterValue();
      } while (this.open.length > 0);
      this.blanks();
      return this.at === this.text.length ? undefined : this.explain('Extra data', this.at);
    } catch (error) {
      if (error instanceof Fault) return this.explain(error.message, error.at);
      throw error;
    }
  }

  private explain(message: string, end: number): JsonFault {
    let pairs = 0;
    for (let at = 0; at < end; at++) if ((this.text.charCodeAt(at) & 0xfc00) === 0xdc00) pairs++;
    return { message, offset: end - pairs };
  }

  /** @returns false when an object or array was opened, and its first value is next */
  private value(): boolean {
    const { text, at } = this;
    this.values += 1;
    const first = text[at];
    if (first === '{' || first === '[') return this.opens(first);
    if (first === '"') this.string();
    else this.at = Math.max(this.word(), skip(NUMBER, text, at));
    if (this.at === at) throw new Fault('Expecting value', at);
    return true;
  }

  private opens(bracket: keyof typeof CLOSING): boolean {
    if (this.open.length === this.limits.maxDepth) throw new JsonTooLarge();
    this.at += 1;
    this.blanks();
    if (this.text[this.at] === CLOSING[bracket]) {
      this.at += 1;
      return true;
    }
    this.open.push(bracket);
    this.member(bracket);
    return false;
  }

  /** Closes what ends here, up to where the next value begins. */
  private afterValue(): void {
    for (let around = this.open.at(-1); around !== undefined; around = this.open.at(-1)) {
      this.blanks();
      const next = this.text[this.at];
      if (next !== ',' && next !== CLOSING[around]) throw new Fault("Expecting ',' delimiter", this.at);
      this.at += 1;
      if (next === ',') {
        this.blanks();
        this.member(around);
        return;
      }
      this.open.pop();
    }
  }

  /** What stands before a value: the key in an object, nothing in an array. */
  private member(around: keyof typeof CLOSING): void {
    if (around === '[') {
      if (++this.items > this.limits.maxKeys) throw new JsonTooLarge();
      return;
    }
    if (this.text[this.at] !== '"') throw new Fault('Expecting property name enclosed in double quotes', this.at);
    if (++this.keys > this.limits.maxKeys) throw new JsonTooLarge();
    this.string();
    this.blanks();
    if (this.text[this.at] !== ':') throw new Fault("Expecting ':' delimiter", this.at);
    this.at += 1;
    this.blanks();
  }

  private blanks(): void {
    this.at = skip(BLANK, this.text, this.at);
  }

  private word(): number {
    const word = WORDS.find((candidate) => this.text.startsWith(candidate, this.at)) ?? '';
    return this.at + word.length;
  }

  /** From the opening quote to behind the closing one. */
  private string(): void {
    const { text, at: begin } = this;
    // Most texts are one long run, such as a picture's; what has escapes is stepped through.
    let at = skip(PLAIN, text, begin + 1);
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) break;
      if (code === BACKSLASH) at = escape(text, at, begin);
      else if (code >= SPACE) at += 1;
      else if (at < text.length) throw new Fault('Invalid control character at', at);
      else throw new Fault('Unterminated string starting at', begin);
    }
    this.at = at + 1;
  }
}

/** @returns the index behind what the pattern matches at `from` */
function skip(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : from;
}

/** @returns the index behind the escape that begins with the backslash at `at` */
function escape(text: string, at: number, begin: number): number {
  const kind = text[at + 1];
  if (kind === undefined) throw new Fault('Unterminated string starting at', begin);
  if (kind === 'u') {
    // Python wants a character behind the four digits before it looks at them.
    if (at + 6 >= text.length || skip(HEX4, text, at + 2) !== at + 6) throw new Fault('Invalid \\uXXXX escape', at + 1);
    return at + 6;
  }
  if (!'"\\/bfnrt'.includes(kind)) throw new Fault('Invalid \\escape', at);
  return at + 2;
}
