/** Ratios that image models commonly offer. */
const COMMON = ['1:1', '4:3', '3:4', '3:2', '2:3', '16:9', '9:16', '21:9'] as const;

export type AspectRatio = (typeof COMMON)[number];

/** The common ratio that is nearest to this size. */
export function nearestRatio(width: number, height: number): AspectRatio {
  const wanted = Math.log(width / height);
  const away = (ratio: AspectRatio): number => {
    const [across = 1, down = 1] = ratio.split(':').map(Number);
    return Math.abs(Math.log(across / down) - wanted);
  };
  return COMMON.reduce((best, ratio) => (away(ratio) < away(best) ? ratio : best));
}

/** The ratio that a request names, as numbers (`16:9`) or as a word (portrait, 竖版, square, 横版). */
export function ratioNamedIn(text: string): AspectRatio | undefined {
  const named = COMMON.find((ratio) => new RegExp(`(?<!\\d)${ratio.replace(':', '\\s*[:：]\\s*')}(?!\\d)`).test(text));
  if (named !== undefined) return named;
  if (/\bportrait\b|\bvertical\b|竖/i.test(text)) return '3:4';
  if (/\blandscape\b|\bhorizontal\b|横/i.test(text)) return '4:3';
  return /\bsquare\b|方形|正方/i.test(text) ? '1:1' : undefined;
}
