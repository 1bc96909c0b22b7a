import type Sharp from 'sharp';

export type SharpFactory = typeof Sharp;

let loaded: Promise<SharpFactory> | undefined;

/**
 * The picture library, loaded at the first picture: it is an optional package.
 * @throws Error naming the package when it is not installed
 */
export function loadSharp(): Promise<SharpFactory> {
  loaded ??= import('sharp').then(
    ({ default: sharp }) => {
      sharp.cache(false); // no picture comes twice: results are kept by us, under their digest
      return sharp;
    },
    (error: unknown) => {
      throw new Error('pictures need the optional package "sharp": npm install --include=optional', { cause: error });
    },
  );
  return loaded;
}
