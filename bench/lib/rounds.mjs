import { median } from './statistics.mjs';

/**
 * Lets the sides take turns: product, peer, product, peer …
 * @template T
 * @param {number} rounds
 * @param {Readonly<Record<string, () => Promise<T>>>} sides
 * @returns {Promise<Record<string, T>[]>} one entry a round
 */
export async function alternate(rounds, sides) {
  const results = [];
  for (let round = 0; round < rounds; round += 1) {
    const result = {};
    for (const [side, measure] of Object.entries(sides)) result[side] = await measure();
    results.push(result);
  }
  return results;
}

/**
 * The medians of both sides, and the median of the ratios: each round is its own pair, so a machine that slows down
 * between two rounds changes no ratio.
 * @template T
 * @param {readonly Record<'product' | 'peer', T>[]} rounds
 * @param {(result: T) => number} [figureOf]
 */
export function summary(rounds, figureOf = (figure) => figure) {
  const pairs = rounds.map(({ product, peer }) => [figureOf(product), figureOf(peer)]);
  return {
    figure: median(pairs.map(([product]) => product)),
    peerFigure: median(pairs.map(([, peer]) => peer)),
    ratio: median(pairs.map(([product, peer]) => product / peer)),
  };
}
