import type { JsonObject } from '../common/json.js';
import type { ImagePart, ImageUrlPart } from '../events/parts.js';

export type PromptLanguage = 'zh' | 'en';

const TEXTS = {
  zh: {
    picture: (index: number, link: string) => `图片 ${index}：${link}`,
    statement: '图片已作为原生多模态内容提供。',
    result: (schema: string) => `只回答一个 JSON 值，不要写其他内容；它必须符合以下 JSON Schema：\n${schema}`,
  },
  en: {
    picture: (index: number, link: string) => `Image ${index}: ${link}`,
    statement: 'The images are supplied as native multimodal content.',
    result: (schema: string) => `Answer with one JSON value and nothing else; it must fit this JSON schema:\n${schema}`,
  },
} as const;

/**
 * The text part that goes to the model with its pictures, as it may be stored: the user's text, a placeholder
 * `{{resource:<id>}}` for each picture's link, and the statement that the pictures are with it. Without pictures it is
 * the user's text alone. What looks like a placeholder in the user's text is marked, and `fillModelInputText` gives
 * it back as it was.
 */
export function renderModelInputText(
  text: string,
  pictures: readonly (ImagePart | ImageUrlPart)[],
  language: PromptLanguage,
): string {
  const own = text.replaceAll(/\{\{(=*)resource:/g, '{{=$1resource:');
  if (pictures.length === 0) return own;
  const { picture, statement } = TEXTS[language];
  const lines = pictures.map(({ index, resourceId }) =>
    picture(index, `{{resource:${encodeURIComponent(resourceId)}}}`),
  );
  return [...(own === '' ? [] : [own]), ...lines, statement].join('\n');
}

/**
 * The stored text with a link for each placeholder.
 * @param linkOf a link that works now, made at each reading and never stored
 */
export function fillModelInputText(stored: string, linkOf: (resourceId: string) => string): string {
  return stored.replaceAll(/\{\{(=*)resource:(?:([^{}]*)\}\})?/g, (found, marks: string, id: string | undefined) => {
    if (marks !== '') return found.replace('{{=', '{{');
    return id === undefined ? found : linkOf(decodeURIComponent(id));
  });
}

/** What a model is told about the shape of its answer. */
export function renderResultInstructions(schema: JsonObject, language: PromptLanguage): string {
  return TEXTS[language].result(JSON.stringify(schema));
}
