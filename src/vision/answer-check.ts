import type { ErrorObject } from 'ajv/dist/2020.js';

/** An answer that fits, or what is wrong with it, for the model: a clause without a full stop. */
export type AnswerCheckResult<Data> =
  { readonly ok: true; readonly data: Data } | { readonly ok: false; readonly problem: string };

const MAX_PROBLEMS = 5;
const FENCE = /^```[a-z0-9]*[ \t]*\r?\n([\s\S]*?)\r?\n?```$/i;

/** The text without white space around it, and without a Markdown fence when that surrounds all of it. */
export function unfenced(text: string): string {
  const trimmed = text.replace(/^\uFEFF/, '').trim();
  return FENCE.exec(trimmed)?.[1]?.trim() ?? trimmed;
}

/** The first few faults, each with its place: `/generationItems/0 must have required property 'prompt'`. */
export function sentenceOf(errors: readonly ErrorObject[] | null | undefined): string {
  const faults = (errors ?? []).map(({ instancePath, message, params }) => {
    const names = 'additionalProperty' in params ? ` (${String(params['additionalProperty'])})` : '';
    const values = 'allowedValues' in params ? ` (${JSON.stringify(params['allowedValues'])})` : '';
    return `${instancePath === '' ? 'the answer' : instancePath} ${message ?? 'is wrong'}${names}${values}`;
  });
  const more = faults.length > MAX_PROBLEMS ? ` and ${faults.length - MAX_PROBLEMS} more` : '';
  return faults.slice(0, MAX_PROBLEMS).join('; ') + more;
}
