/** The environment variable of a key: `runs.leaseMs` → `BRIDLE_RUNS_LEASE_MS`. */
export function variableOf(key: string): string {
  const words = key.split('.').map((part) => part.replace(/[A-Z]/g, (letter) => `_${letter}`));
  return `BRIDLE_${words.join('_').toUpperCase()}`;
}

/** The fewest single-character changes, swaps of neighbours included, that turn one text into the other. */
export function editDistance(from: string, to: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const differs = from[row - 1] === to[column - 1] ? 0 : 1;
      const isSwap = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + differs,
        isSwap ? at(beforePrevious, column - 2) + 1 : Infinity,
      );
    }
    beforePrevious = previous;
    previous = current;
  }
  return at(previous, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}

/**
 * The candidate that is most like the name; letters' case, dots and underscores do not count as differences.
 * @returns undefined only when there are no candidates
 */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  const plain = (text: string): string => text.toLowerCase().replace(/[._-]/g, '');
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(plain(name), plain(candidate));
    if (best === undefined || distance < best.distance) best = { candidate, distance };
  }
  return best?.candidate;
}
