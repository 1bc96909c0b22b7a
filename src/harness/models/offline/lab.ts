/** Red, green and blue, each 0–255. */
export type Rgb = readonly [red: number, green: number, blue: number];

/** CIE L*a*b*: distances in it are close to what an eye sees. */
export type Lab = readonly [lightness: number, a: number, b: number];

const linear = (channel: number): number => {
  const part = channel / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
};

const curve = (part: number): number => (part > 216 / 24389 ? Math.cbrt(part) : ((24389 / 27) * part + 16) / 116);

/** sRGB as L*a*b* under daylight (D65). */
export function toLab([red, green, blue]: Rgb): Lab {
  const [r, g, b] = [linear(red), linear(green), linear(blue)];
  const x = curve((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047);
  const y = curve(0.2126 * r + 0.7152 * g + 0.0722 * b);
  const z = curve((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** How different two colours look: 2 is just seen, 100 is black against white. */
export const labDistance = (one: Lab, other: Lab): number =>
  Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);
