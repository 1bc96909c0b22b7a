import { Injectable } from '@nestjs/common';
import type { Json, JsonObject } from '../common/json.js';
import type { Capability } from '../events/projection.js';
import type { RunResult } from '../events/values.js';
import type { AnswerCheck } from '../harness/ports/answer-check.js';
import type { AnswerCheckResult } from './answer-check.js';
import { checkResponseSchema, checkSchemaResult } from './schema-result.js';
import { renderResultInstructions } from './result-instructions.js';
import { checkVisionResult } from './vision-result.js';

/** What a run's answer must look like, and how it becomes the run's result (contract runs §2.4). */
export interface AnswerShape {
  /** undefined: any text is fine. */
  readonly check: AnswerCheck | undefined;
  readonly resultOf: (text: string) => RunResult;
  /** What the model must be told of the shape, beside its agent's prompt; undefined = nothing. */
  readonly instructions: string | undefined;
}

const TEXT: AnswerShape = {
  check: undefined,
  resultOf: (text) => ({ type: 'text', data: { text } }),
  instructions: undefined,
};

/** Decides the shape of a run's result: the caller's schema, the four keys of a picture run, or text. */
@Injectable()
export class AnswersService {
  /** @throws AppError `INVALID_BODY` when the caller's `response_schema` cannot be used */
  checkSchema(schema: JsonObject): void {
    checkResponseSchema(schema);
  }

  /** The caller's schema goes before the four keys; a run without either answers in text. */
  shapeOf(run: {
    readonly capabilities: readonly Capability[];
    readonly pictureCount: number;
    readonly responseSchema: JsonObject | undefined;
    readonly language: 'zh' | 'en';
  }): AnswerShape {
    if (run.responseSchema !== undefined) return schemaShape(run.responseSchema, run.language);
    return run.capabilities.length > 0 ? visionShape(run.pictureCount) : TEXT;
  }
}

function visionShape(pictureCount: number): AnswerShape {
  return shapeOf('vision', (text) => checkVisionResult(text, pictureCount));
}

function schemaShape(schema: JsonObject, language: 'zh' | 'en'): AnswerShape {
  const instructions = renderResultInstructions(schema, language);
  return { ...shapeOf('schema', (text) => checkSchemaResult(text, schema)), instructions };
}

function shapeOf(shape: AnswerCheck['shape'], check: (text: string) => AnswerCheckResult<unknown>): AnswerShape {
  return {
    check: {
      shape,
      problemOf: (text) => {
        const checked = check(text);
        return checked.ok ? undefined : checked.problem;
      },
    },
    resultOf: (text) => {
      const checked = check(text);
      if (!checked.ok) throw new Error('an answer that breaks its shape cannot be a result');
      return { type: 'json', data: checked.data as Json };
    },
    instructions: undefined,
  };
}
