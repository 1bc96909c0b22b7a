import type { Check } from './check.js';

const isTerminal = process.stdout.isTTY;
const paint = (code: number, text: string): string => (isTerminal ? `\u001b[${code}m${text}\u001b[0m` : text);

/** Prints a line of the start. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** One line a check: green, yellow for a risk, or red with the fix. */
export function sayChecks(checks: readonly Check[]): void {
  for (const { name, isGood, isRisky, text } of checks) {
    const mark = isRisky ? paint(33, '!') : isGood ? paint(32, '✓') : paint(31, '✗');
    say(`${mark} ${name.padEnd(16)} ${isGood ? text : paint(31, text)}`);
  }
}

/** One line for what is risky, or set without effect. */
export function sayWarning(text: string): void {
  say(`${paint(33, '!')} ${text}`);
}

/** The last line of the start: `ready` and `key=value` pairs. */
export function sayReady(facts: Readonly<Record<string, string>>): void {
  say(
    `ready ${Object.entries(facts)
      .map(([key, value]) => `${key}=${value}`)
      .join(' ')}`,
  );
}
