import { nameOfColour, type ColourName } from './colour-names.js';
import { labDistance, toLab, type Lab, type Rgb } from './lab.js';

export interface ColourShare {
  /** `#rrggbb` */
  readonly hex: string;
  readonly name: ColourName;
  /** Part of the picture's visible area, 0–1. */
  readonly share: number;
}

/** Colours closer than this in L*a*b* count as one. */
const ALIKE = 14;
/** Areas below this share are left out. */
const MIN_SHARE = 0.01;
const MAX_COLOURS = 5;

interface Cluster {
  readonly seed: Lab;
  count: number;
  readonly sum: [number, number, number];
}

/**
 * Up to five colours with their share, the largest first.
 * @param pixels red, green, blue, alpha of every pixel; pixels that are mostly transparent do not count
 */
export function dominantColours(pixels: Uint8Array): readonly ColourShare[] {
  const bins = binsOf(pixels);
  const total = bins.reduce((sum, bin) => sum + bin.count, 0);
  const named = new Map<string, { count: number; colour: Rgb; name: ColourName }>();
  for (const cluster of clustersOf(bins)) {
    const colour = meanOf(cluster);
    const name = nameOfColour(colour);
    const known = named.get(name.en);
    if (known === undefined) named.set(name.en, { count: cluster.count, colour, name });
    else known.count += cluster.count;
  }
  return [...named.values()]
    .map(({ count, colour, name }) => ({ hex: hexOf(colour), name, share: count / total }))
    .filter(({ share }) => share >= MIN_SHARE)
    .sort((one, other) => other.share - one.share)
    .slice(0, MAX_COLOURS);
}

interface Bin {
  count: number;
  readonly sum: [number, number, number];
}

/** Counts pixels by the upper five bits of each channel, the fullest bin first. */
function binsOf(pixels: Uint8Array): Bin[] {
  const bins = new Map<number, Bin>();
  for (let at = 0; at + 3 < pixels.length; at += 4) {
    const [red = 0, green = 0, blue = 0, alpha = 0] = pixels.subarray(at, at + 4);
    if (alpha < 128) continue;
    const key = ((red >> 3) << 10) | ((green >> 3) << 5) | (blue >> 3);
    const bin = bins.get(key) ?? { count: 0, sum: [0, 0, 0] };
    bin.count += 1;
    bin.sum[0] += red;
    bin.sum[1] += green;
    bin.sum[2] += blue;
    bins.set(key, bin);
  }
  return [...bins.values()].sort((one, other) => other.count - one.count);
}

/** Joins each bin with the first large colour it looks like. */
function clustersOf(bins: readonly Bin[]): Cluster[] {
  const clusters: Cluster[] = [];
  for (const bin of bins) {
    const lab = toLab(meanOf(bin));
    const home = clusters.find(({ seed }) => labDistance(seed, lab) < ALIKE);
    if (home === undefined) {
      clusters.push({ seed: lab, count: bin.count, sum: [...bin.sum] });
      continue;
    }
    home.count += bin.count;
    bin.sum.forEach((part, channel) => (home.sum[channel as 0 | 1 | 2] += part));
  }
  return clusters.sort((one, other) => other.count - one.count);
}

const meanOf = ({ count, sum }: Bin): Rgb => [sum[0] / count, sum[1] / count, sum[2] / count];

const hexOf = (colour: Rgb): string =>
  `#${colour.map((channel) => Math.round(channel).toString(16).padStart(2, '0')).join('')}`;
