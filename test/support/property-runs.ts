/** True in the closing run, which takes every loop and every size in full. */
export const isFullRun = (): boolean => Boolean(process.env['BRIDLE_TEST_FULL']);

/** How often a random test repeats: all of it in the closing run, else a tenth, at least ten times. */
export function propertyRuns(full: number): number {
  return isFullRun() ? full : Math.max(10, Math.ceil(full / 10));
}

/**
 * Does the work for 0 … `count` − 1, so many at once.
 * @returns the results in the order of their numbers
 */
export async function atOnce<T>(count: number, limit: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      results[index] = await work(index);
    }
  };
  await Promise.all(Array.from({ length: limit }, lane));
  return results;
}
