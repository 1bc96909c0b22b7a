/** How often a random test repeats: all of it in the closing run, else a tenth, at least ten times. */
export function propertyRuns(full: number): number {
  return process.env['BRIDLE_TEST_FULL'] ? full : Math.max(10, Math.ceil(full / 10));
}
