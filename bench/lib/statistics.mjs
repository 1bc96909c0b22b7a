/**
 * The value below which a share of the values lies, by linear interpolation between the two nearest.
 * @param {readonly number[]} values in any order
 * @param {number} share 0 to 1; 0.5 is the median
 * @throws RangeError when there is no value
 */
export function quantile(values, share) {
  if (values.length === 0) throw new RangeError('a quantile needs at least one value');
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const below = Math.floor(place);
  const above = Math.ceil(place);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - below);
}

export const median = (values) => quantile(values, 0.5);
