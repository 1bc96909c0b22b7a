import { rowOf, tableOf } from '../../bench/lib/table.mjs';

const FACTS = {
  measure: 'runs',
  name: 'runs/s',
  unit: 'runs/s',
  figure: 123.4,
  peer: 'floor',
  peerFigure: 200,
  ratio: 0.6,
};

describe('the table of the bench', () => {
  it.each([
    [{ of: 'ratio', atLeast: 0.6 }, true],
    [{ of: 'ratio', atLeast: 0.61 }, false],
    [{ of: 'ratio', atMost: 0.59 }, false],
    [{ of: 'figure', atMost: 123.4 }, true],
    [{ of: 'figure', atMost: 100 }, false],
  ] as const)('judges by %j', (aim, met) => {
    expect(rowOf({ ...FACTS, aim }).met).toBe(met);
  });

  it('judges by the difference where that is what counts', () => {
    const row = { ...FACTS, difference: 1.6, aim: { of: 'difference', atMost: 1.5 } } as const;
    expect(rowOf(row).met).toBe(false);
    expect(rowOf({ ...row, difference: -3 }).met).toBe(true);
  });

  it('shows figures, comparison, aim and verdict in padded columns', () => {
    const rows = [
      rowOf({ ...FACTS, aim: { of: 'ratio', atLeast: 0.6 } }),
      rowOf({ ...FACTS, name: 'wait', unit: 'ms', difference: 2, aim: { of: 'difference', atMost: 1.5 } }),
      rowOf({ measure: 'memory', name: 'memory', unit: 'KiB', figure: 53.42, peer: '' }),
    ];
    expect(tableOf(rows).split('\n')).toEqual([
      '| measure | product    | peer               | compared | aim       | met |',
      '| ------- | ---------- | ------------------ | -------- | --------- | --- |',
      '| runs/s  | 123 runs/s | 200 runs/s (floor) | 0.60 ×   | ≥ 0.6 ×   | yes |',
      '| wait    | 123 ms     | 200 ms (floor)     | +2 ms    | ≤ +1.5 ms | no  |',
      '| memory  | 53.4 KiB   | –                  | –        | –         | –   |',
    ]);
  });
});
