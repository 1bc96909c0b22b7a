import { alternate, summary } from '../../bench/lib/rounds.mjs';

describe('rounds of the bench', () => {
  it('lets product and peer take turns', async () => {
    const turns: string[] = [];
    const side = (name: string) => async () => turns.push(name);
    const rounds = await alternate(2, { product: side('product'), peer: side('peer') });
    expect(turns).toEqual(['product', 'peer', 'product', 'peer']);
    expect(rounds).toEqual([
      { product: 1, peer: 2 },
      { product: 3, peer: 4 },
    ]);
  });

  it('compares inside a round, so that a machine which slows down changes no ratio', () => {
    const rounds = [
      { product: 50, peer: 100 },
      { product: 10, peer: 20 },
      { product: 1, peer: 4 },
    ];
    expect(summary(rounds)).toEqual({ figure: 10, peerFigure: 20, ratio: 0.5 });
  });
});
