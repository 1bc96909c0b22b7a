import type { ColourShare } from './dominant-colours.js';
import type { Finding } from './findings.js';
import type { PictureFacts } from './measure-picture.js';
import type { PicturePart } from './conversation.js';
import type { TextReading } from './text-reader.port.js';

/** What a model would have got with a request that has no picture. */
export interface RequestSize {
  readonly systemCharacters: number;
  readonly messages: number;
  readonly characters: number;
  readonly tools: readonly string[];
}

/** The sentences of the `offline` model in one language. */
export interface Phrases {
  /** Opens every answer about pictures: measured, not guessed. */
  readonly measured: string;
  /** Opens every answer without a picture: no model, nothing guessed. */
  readonly noModel: string;
  readonly notMeasured: string;
  picture(part: PicturePart, bytes: number | undefined): string;
  colours(colours: readonly ColourShare[]): string;
  light(facts: PictureFacts): string;
  text(reading: TextReading): string;
  wouldSend(size: RequestSize): string;
  readonly setUp: string;
  readonly setUpBriefly: string;
  readonly askStyle: string;
  readonly edit: string;
  readonly generate: string;
  readonly untitled: string;
  editPrompt(request: string, findings: readonly Finding[]): string;
  generatePrompt(request: string, findings: readonly Finding[]): string;
}

export const percent = (share: number): string => `${Math.round(share * 100)}%`;

export const kilobytes = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

/** The word for a value on a scale: the first whose limit it is below. */
export function grade(value: number, scale: readonly (readonly [below: number, word: string])[]): string {
  return scale.find(([below]) => value < below)?.[1] ?? '';
}

/** The request as a sentence, so that another can follow it. */
export const asSentence = (request: string, fullStop: '. ' | '。'): string =>
  /[.!?。！？…]$/.test(request.trim()) ? `${request.trim()}${fullStop.slice(1)}` : `${request.trim()}${fullStop}`;
