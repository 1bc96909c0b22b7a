const WORD = /\s*(?:[^\s，。；：、！？]+[，。；：、！？]*|[，。；：、！？]+)\s*/gu;

/**
 * A text in the pieces a reader would see arrive: words with the white space after them; in Chinese, phrases
 * up to the next punctuation mark. Joined, the pieces are the text again.
 */
export function wordsOf(text: string): readonly string[] {
  return text.match(WORD) ?? (text === '' ? [] : [text]);
}
