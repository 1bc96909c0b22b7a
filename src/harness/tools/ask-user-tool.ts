import type { JsonObject } from '../../common/json.js';
import type { Question, QuestionAnswer } from '../../events/values.js';
import { AskingTool, type ToolEffect, type ToolResult } from '../ports/tool.port.js';

/** The form of a question that a model asks. */
const QUESTION = {
  type: 'object',
  required: ['question', 'inputType'],
  properties: {
    id: { type: 'string', minLength: 1, maxLength: 64, description: 'unique in this call; default q1, q2, …' },
    header: { type: 'string', description: 'a very short title' },
    question: { type: 'string', minLength: 1, description: 'the whole question' },
    inputType: { enum: ['single_select', 'multi_select', 'text', 'confirm'] },
    options: {
      type: 'array',
      description: 'what can be chosen; put the best first and end its label with " (Recommended)"',
      items: {
        type: 'object',
        required: ['label'],
        properties: {
          label: { type: 'string', minLength: 1 },
          description: { type: 'string' },
          followUp: {
            type: 'object',
            description: 'a text question that follows when this option is chosen',
            required: ['id', 'question'],
            properties: {
              id: { type: 'string', minLength: 1, maxLength: 64 },
              header: { type: 'string' },
              question: { type: 'string', minLength: 1 },
            },
          },
        },
      },
    },
    multiSelect: { type: 'boolean' },
    optional: { type: 'boolean', description: 'true: the user may leave it unanswered' },
  },
  allOf: [
    {
      if: { properties: { inputType: { enum: ['single_select', 'multi_select'] } } },
      then: { required: ['options'], properties: { options: { minItems: 1 } } },
    },
  ],
} as const;

interface AskedQuestion extends Omit<Question, 'id' | 'options' | 'multiSelect'> {
  readonly id?: string;
  readonly options?: Question['options'];
  readonly multiSelect?: boolean;
}

/** Asks the user one or more questions; the answers are its result (contract engine §7.2, runs §2.8). */
export class AskUserTool extends AskingTool {
  readonly effect: ToolEffect = 'read_only';
  readonly declaration = {
    name: 'ask_user',
    description:
      'Asks the user one or more questions and waits for the answers. Use it when only the user can decide, and ask everything at once.',
    parameters: {
      type: 'object',
      required: ['questions'],
      properties: { questions: { type: 'array', minItems: 1, maxItems: 20, items: QUESTION } },
    },
  };

  questionsOf(args: JsonObject): readonly Question[] {
    const taken = new Set<string>();
    return (args['questions'] as unknown as readonly AskedQuestion[]).map((asked, index) => {
      const id = freeId(asked.id ?? `q${index + 1}`, taken);
      taken.add(id);
      const multiSelect = asked.multiSelect ?? asked.inputType === 'multi_select';
      return { ...asked, id, options: asked.options ?? [], multiSelect };
    });
  }

  resultOf(answers: readonly QuestionAnswer[]): ToolResult {
    return { json: { answers: answers.map(({ id, selected, custom }) => ({ id, selected: [...selected], custom })) } };
  }
}

/** A model may give two questions the same id: each answer must reach its own. */
function freeId(wanted: string, taken: ReadonlySet<string>): string {
  for (let n = 1; ; n += 1) {
    const id = n === 1 ? wanted : `${wanted}-${n}`;
    if (!taken.has(id)) return id;
  }
}
