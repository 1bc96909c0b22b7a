/** Where and why a text is not JSON, in the words of Python's `json` module: FastAPI clients read them. */
export interface JsonFault {
  readonly message: string;
  /** Characters (code points) from the start of the text. */
  readonly offset: number;
}

class Fault extends Error {
  constructor(
    message: string,
    readonly at: number,
  ) {
    super(message);
  }
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const BLANK = /[ \t\n\r]*/y;
const HEX4 = /[0-9a-fA-F]{4}/y;
const WORDS = ['null', 'true', 'false'];

/**
 * Finds the first fault of a text that is not JSON.
 * @returns the fault; undefined when the text is JSON after all
 * @throws RangeError when the text is nested too deeply for the call stack
 */
export function findJsonFault(text: string): JsonFault | undefined {
  try {
    const end = skip(BLANK, text, value(text, skip(BLANK, text, 0)));
    return end === text.length ? undefined : { message: 'Extra data', offset: codePoints(text, end) };
  } catch (error) {
    if (error instanceof Fault) return { message: error.message, offset: codePoints(text, error.at) };
    throw error;
  }
}

const codePoints = (text: string, end: number): number => Array.from(text.slice(0, end)).length;

function skip(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : from;
}

/** Index behind the value that begins at `from`. */
function value(text: string, from: number): number {
  const first = text[from];
  if (first === '"') return string(text, from + 1);
  if (first === '{') return object(text, from + 1);
  if (first === '[') return array(text, from + 1);
  const word = WORDS.find((candidate) => text.startsWith(candidate, from));
  if (word !== undefined) return from + word.length;
  const end = skip(NUMBER, text, from);
  if (end === from) throw new Fault('Expecting value', from);
  return end;
}

function object(text: string, from: number): number {
  let at = skip(BLANK, text, from);
  if (text[at] === '}') return at + 1;
  for (;;) {
    if (text[at] !== '"') throw new Fault('Expecting property name enclosed in double quotes', at);
    at = skip(BLANK, text, string(text, at + 1));
    if (text[at] !== ':') throw new Fault("Expecting ':' delimiter", at);
    at = skip(BLANK, text, value(text, skip(BLANK, text, at + 1)));
    if (text[at] === '}') return at + 1;
    if (text[at] !== ',') throw new Fault("Expecting ',' delimiter", at);
    at = skip(BLANK, text, at + 1);
  }
}

function array(text: string, from: number): number {
  let at = skip(BLANK, text, from);
  if (text[at] === ']') return at + 1;
  for (;;) {
    at = skip(BLANK, text, value(text, at));
    if (text[at] === ']') return at + 1;
    if (text[at] !== ',') throw new Fault("Expecting ',' delimiter", at);
    at = skip(BLANK, text, at + 1);
  }
}

/** Index behind the closing quote of the string whose first character is at `from`. */
function string(text: string, from: number): number {
  const open = from - 1;
  let at = from;
  for (;;) {
    at = skip(PLAIN, text, at);
    const stop = text[at];
    if (stop === undefined) throw new Fault('Unterminated string starting at', open);
    if (stop === '"') return at + 1;
    if (stop !== '\\') throw new Fault('Invalid control character at', at);
    at = escape(text, at, open);
  }
}

function escape(text: string, backslash: number, open: number): number {
  const kind = text[backslash + 1];
  if (kind === undefined) throw new Fault('Unterminated string starting at', open);
  if (kind === 'u') {
    // Python wants a character behind the four digits before it looks at them.
    const complete = backslash + 6 < text.length && skip(HEX4, text, backslash + 2) !== backslash + 2;
    if (!complete) throw new Fault('Invalid \\uXXXX escape', backslash + 1);
    return backslash + 6;
  }
  if (!'"\\/bfnrt'.includes(kind)) throw new Fault('Invalid \\escape', backslash);
  return backslash + 2;
}
