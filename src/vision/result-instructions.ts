import type { JsonObject } from '../common/json.js';

// A prompt may have described another form before: this one takes its place.
const INSTRUCTIONS = {
  zh: '上文对回答格式的要求对本次回答不适用。只回答一个 JSON 值，不要写其他内容；它必须符合以下 JSON Schema：',
  en:
    'For this answer, whatever stands above about its form does not count. ' +
    'Answer with one JSON value and nothing else; it must fit this JSON schema:',
} as const;

/** What a model is told about the shape of its answer, behind its agent's prompt. */
export function renderResultInstructions(schema: JsonObject, language: 'zh' | 'en'): string {
  return `${INSTRUCTIONS[language]}\n${JSON.stringify(schema)}`;
}
