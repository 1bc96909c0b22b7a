/** The items of a stream of pieces, one by one. */
export async function* flat<T>(pieces: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const piece of pieces) yield* piece;
}

/** A stream of items as pieces of one. */
export async function* pieced<T>(items: AsyncIterable<T>): AsyncGenerator<readonly T[]> {
  for await (const item of items) yield [item];
}
