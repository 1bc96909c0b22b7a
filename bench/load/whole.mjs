/** A run counts when its text is whole and its terminal event was seen. */
export function checkWhole(seen, expected, terminal) {
  if (seen.last !== terminal) throw new Error(`a stream ended with ${seen.last} in place of ${terminal}`);
  if (seen.text !== expected) {
    throw new Error(`a run showed ${JSON.stringify(seen.text)} in place of ${JSON.stringify(expected)}`);
  }
}
