import type { JsonObject } from '../../../common/json.js';
import { nearestRatio, ratioNamedIn } from './aspect-ratio.js';
import type { Conversation } from './conversation.js';
import { formatOf, linesOf, type Finding } from './findings.js';
import type { Intent } from './intent.js';
import type { Phrases } from './phrases.js';

const TITLE_CHARACTERS = 40;

const shorten = (text: string): string => {
  const characters = [...text.trim().replace(/\s+/g, ' ')];
  return characters.length <= TITLE_CHARACTERS
    ? characters.join('')
    : `${characters.slice(0, TITLE_CHARACTERS - 1).join('')}…`;
};

function titleOf(findings: readonly Finding[], text: string, phrases: Phrases): string {
  const line = findings.flatMap(linesOf).find((candidate) => (candidate.match(/\p{L}/gu)?.length ?? 0) >= 2);
  if (line !== undefined) return shorten(line);
  const [first] = findings;
  if (first !== undefined) return `${formatOf(first.part)} ${first.part.width} × ${first.part.height}`;
  return shorten(text) || phrases.untitled;
}

/** Everything of a vision run's result but `reply` (contract runs §2.4). */
export function resultOf(
  intent: Intent,
  { text, areOfThisRun }: Conversation,
  findings: readonly Finding[],
  phrases: Phrases,
): JsonObject {
  const suggestedTitle = titleOf(findings, text, phrases);
  if (intent === 'reply' || intent === 'clarify') return { intent, suggestedTitle, generationItems: [] };
  const [first] = findings;
  const own = first === undefined ? '1:1' : nearestRatio(first.part.width, first.part.height);
  const item = {
    prompt: intent === 'edit' ? phrases.editPrompt(text, findings) : phrases.generatePrompt(text, findings),
    aspectRatio: ratioNamedIn(text) ?? own,
    referenceImageIndexes: areOfThisRun ? findings.map(({ part }) => part.index) : [],
  };
  return { intent, suggestedTitle, generationItems: [item] };
}
