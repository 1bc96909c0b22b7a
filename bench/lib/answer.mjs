/** The pieces of the answer that the fake model gives, and a run must show. */
export const wordsOf = (count) => Array.from({ length: count }, (_, index) => `w${index + 1} `);
