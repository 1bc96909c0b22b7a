import { Ajv2020 } from 'ajv/dist/2020.js';
import { isJsonObject, type JsonObject } from '../common/json.js';
import { sentenceOf, unfenced, type AnswerCheckResult } from './answer-check.js';

export type GenerationItem = {
  readonly prompt: string;
  /** `3:4` */
  readonly aspectRatio: string;
  /** Positions of pictures of the same run, from 0. */
  readonly referenceImageIndexes: readonly number[];
};

/** The result of a run with pictures in or out: always these four keys. */
export type VisionResult = {
  readonly reply: string;
  readonly intent: 'reply' | 'edit' | 'generate' | 'clarify';
  readonly suggestedTitle: string;
  readonly generationItems: readonly GenerationItem[];
};

/** JSON schema (2020-12) of `VisionResult`: for OpenAPI, for what the model is told, for what it answers. */
export const VISION_RESULT_SCHEMA = {
  type: 'object',
  required: ['reply', 'intent', 'suggestedTitle', 'generationItems'],
  additionalProperties: false,
  properties: {
    reply: { type: 'string', description: 'What the user reads, in the language of the user.' },
    intent: {
      type: 'string',
      enum: ['reply', 'edit', 'generate', 'clarify'],
      description:
        'reply: the answer is in `reply`; edit: change given pictures; generate: make new ones; clarify: `reply` asks.',
    },
    suggestedTitle: { type: 'string', description: 'A few words that name the conversation.' },
    generationItems: {
      type: 'array',
      description: 'One item for each picture to make; empty unless the intent is edit or generate.',
      items: {
        type: 'object',
        required: ['prompt', 'aspectRatio', 'referenceImageIndexes'],
        additionalProperties: false,
        properties: {
          prompt: { type: 'string', minLength: 1, description: 'The whole prompt for the picture.' },
          aspectRatio: { type: 'string', minLength: 1, description: 'Width to height, such as 3:4.' },
          referenceImageIndexes: {
            type: 'array',
            items: { type: 'integer', minimum: 0 },
            description: 'Positions of the pictures of this message that the new one is made from, from 0.',
          },
        },
      },
    },
  },
} as const satisfies JsonObject;

const KEYS = VISION_RESULT_SCHEMA.required;
const TITLE_WIDTH = 40;
const hasShape = new Ajv2020({ allErrors: true }).compile<VisionResult>(VISION_RESULT_SCHEMA);

/**
 * Reads a model's answer as a vision result. A text that is no JSON object is plain text and always fits.
 * @param pictureCount pictures of the run: what `referenceImageIndexes` may point to
 */
export function checkVisionResult(text: string, pictureCount: number): AnswerCheckResult<VisionResult> {
  const candidate = jsonCandidate(text);
  if (candidate === undefined) return { ok: true, data: toVisionResult(text) };
  const value = parsed(candidate);
  if (value === undefined) return { ok: false, problem: 'the answer begins like a JSON object but is not valid JSON' };
  if (!hasShape(value)) return { ok: false, problem: sentenceOf(hasShape.errors) };
  const problem = missingPicture(value, pictureCount);
  return problem === undefined ? { ok: true, data: value } : { ok: false, problem };
}

/** Plain text as a vision result: the text is the reply, its first words are the title. */
function toVisionResult(text: string): VisionResult {
  return { reply: text, intent: 'reply', suggestedTitle: titleOf(text), generationItems: [] };
}

/** The piece of the answer that means to be the JSON object: all of it, or the one fenced block in it that has our keys. */
function jsonCandidate(text: string): string | undefined {
  const whole = unfenced(text);
  if (/^\{\s*["}]/.test(whole)) return whole;
  const blocks = [...text.matchAll(/```(?:json)?[ \t]*\r?\n(\s*\{[\s\S]*?)\r?\n?```/gi)].map((match) => match[1] ?? '');
  return blocks.find((block) => {
    const value = parsed(block);
    return isJsonObject(value) && KEYS.some((key) => key in value);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function missingPicture(result: VisionResult, pictureCount: number): string | undefined {
  for (const [item, { referenceImageIndexes }] of result.generationItems.entries()) {
    const wrong = referenceImageIndexes.find((index) => index >= pictureCount);
    if (wrong === undefined) continue;
    const known = pictureCount === 0 ? 'this message has none' : `the pictures are 0 to ${pictureCount - 1}`;
    return `/generationItems/${item}/referenceImageIndexes names picture ${wrong}, which does not exist: ${known}`;
  }
  return undefined;
}

/** The first words of the first line with any, up to about 40 columns; a Chinese character is two wide. */
function titleOf(text: string): string {
  const line = text.split('\n').find((candidate) => /[\p{L}\p{N}]/u.test(candidate)) ?? '';
  const sentence = line.replace(/^[\s#>*_`-]+/u, '').split(/(?<=[。！？!?])|(?<=\.)\s/u)[0] ?? '';
  let title = '';
  let width = 0;
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'word' }).segment(sentence)) {
    width += columnsOf(segment);
    if (width > TITLE_WIDTH) break;
    title += segment;
  }
  const words = title === '' ? [...sentence].slice(0, TITLE_WIDTH).join('') : title;
  return words.replace(/[\s.,;:，。；：、！？!?*_`]+$/u, '');
}

const columnsOf = (text: string): number =>
  [...text].reduce(
    (sum, character) =>
      sum + (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\uFF00-\uFF60]/u.test(character) ? 2 : 1),
    0,
  );
