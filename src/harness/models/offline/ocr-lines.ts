import type { TextReading } from './text-reader.port.js';

/** A word as the engine read it; confidence in percent. */
export interface OcrWord {
  readonly text: string;
  readonly confidence: number;
}

const MIN_WORD = 50;
const MIN_LINE = 60;

const weightOf = (word: OcrWord): number => [...word.text].length;

function meanConfidence(words: readonly OcrWord[]): number {
  const weight = words.reduce((sum, word) => sum + weightOf(word), 0);
  return weight === 0 ? 0 : words.reduce((sum, word) => sum + word.confidence * weightOf(word), 0) / weight;
}

/** Words joined as they are written: Chinese has no blanks, neither around its numbers. */
function joinWords(words: readonly OcrWord[]): string {
  return words
    .map((word) => word.text)
    .join(' ')
    .replace(/(?<=[\p{Script=Han}]) ?[:：] ?/gu, '：')
    .replace(/(?<=[\p{Script=Han}\d]) (?=\p{Script=Han})|(?<=\p{Script=Han}) (?=\d)/gu, '')
    .trim();
}

/** Scribbles are read as a sign or two: a line must hold a word or a number. */
function holdsText(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  return letters >= 2 || (text.match(/[\p{L}\d]/gu)?.length ?? 0) >= 3;
}

/** Keeps the lines that were read with confidence; noise of textures and drawings is left out. */
export function readingOf(lines: readonly (readonly OcrWord[])[]): TextReading {
  const kept = lines
    .map((words) => words.filter((word) => word.confidence >= MIN_WORD))
    .map((words) => ({ text: joinWords(words), words }))
    .filter(({ text, words }) => holdsText(text) && meanConfidence(words) >= MIN_LINE);
  if (kept.length === 0) return { outcome: 'none' };
  return {
    outcome: 'read',
    lines: kept.map(({ text }) => text),
    confidence: meanConfidence(kept.flatMap(({ words }) => words)) / 100,
  };
}
