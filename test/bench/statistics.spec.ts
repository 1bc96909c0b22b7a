import { median, quantile } from '../../bench/lib/statistics.mjs';

describe('the statistics of the bench', () => {
  it('takes the middle value, or the middle between two', () => {
    expect(median([30, 1, 2])).toBe(2);
    expect(median([4, 1, 3, 2])).toBe(2.5);
  });

  it('finds the value below which a share lies, between its neighbours', () => {
    const values = Array.from({ length: 101 }, (_, index) => 100 - index);
    expect(quantile(values, 0.99)).toBe(99);
    expect(quantile([10, 20], 0.25)).toBe(12.5);
    expect([quantile(values, 0), quantile(values, 1)]).toEqual([0, 100]);
  });

  it('leaves the values in their order, and refuses none at all', () => {
    const values = [3, 1, 2];
    median(values);
    expect(values).toEqual([3, 1, 2]);
    expect(() => median([])).toThrow(RangeError);
  });
});
