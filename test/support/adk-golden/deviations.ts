import { readFileSync } from 'node:fs';

/** One row of `docs/adk-deviations.md`. */
export interface DeviationRow {
  readonly id: string;
  /** Case ids; one that ends in `-` is a prefix, and `sse-x` stands for its twin `stream-x` too. */
  readonly cases: readonly string[];
}

const DOCUMENT = new URL('../../../docs/adk-deviations.md', import.meta.url);

export function readDeviations(): readonly DeviationRow[] {
  const rows = readFileSync(DOCUMENT, 'utf8')
    .split('\n')
    .filter((line) => /^\| (?!id |-)/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  return rows.map(([, id = '', cases = '']) => ({
    id,
    cases: [...cases.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ''),
  }));
}

/** True when the row names the case. */
export function covers(row: DeviationRow, caseId: string): boolean {
  const twin = caseId.replace(/^stream-/, 'sse-');
  return row.cases.some((name) =>
    name.endsWith('-') ? caseId.startsWith(name) || twin.startsWith(name) : name === caseId || name === twin,
  );
}
