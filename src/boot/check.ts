/** One line of the start: green with what is there, yellow with what is risky, red with what to do. */
export interface Check {
  readonly name: string;
  readonly isGood: boolean;
  /** Good enough to start, and worth a look. */
  readonly isRisky?: true;
  /** What was found, or the fix. */
  readonly text: string;
  /** True when the configuration asks for what is not installed. */
  readonly isConfiguration?: boolean;
}

export const good = (name: string, text: string): Check => ({ name, isGood: true, text });
export const risky = (name: string, text: string): Check => ({ name, isGood: true, isRisky: true, text });
export const bad = (name: string, text: string): Check => ({ name, isGood: false, text });

/** Whether a version is older than another, number by number. */
export function isBefore(version: readonly number[], minimum: readonly number[]): boolean {
  for (const [index, wanted] of minimum.entries()) {
    const found = version[index] ?? 0;
    if (found !== wanted) return found < wanted;
  }
  return false;
}
