import type { ChatRequest } from '../../ports/chat-model.port.js';
import type { ScriptStep } from './script-step.js';

const needsHarness = (step: ScriptStep): boolean =>
  step.kind === 'tools' || step.kind === 'block' || step.kind === 'call';

/** A script cut into model turns: each ends with a step that needs the harness, the last one with the script. */
export function turnsOf(steps: readonly ScriptStep[]): readonly (readonly ScriptStep[])[] {
  const turns: ScriptStep[][] = [[]];
  for (const step of steps) {
    turns.at(-1)?.push(step);
    if (needsHarness(step)) turns.push([]);
  }
  return turns;
}

/** Where a run is in its script, found from the request alone. */
export interface ScriptPosition {
  /** The newest text of the user. */
  readonly script: string;
  /** How many turns of this script are over. */
  readonly turn: number;
  /** How many turns this run took in all. */
  readonly turnOfRun: number;
  /** True when the harness asks to mend the answer just given. */
  readonly mending: boolean;
}

/** Finds the script and the turn it is at; a text that arrives during the run is a script of its own. */
export function positionOf(request: ChatRequest): ScriptPosition {
  let script = '';
  let turn = 0;
  let turnOfRun = 0;
  for (const message of request.messages) {
    if (message.role === 'user' && message.fromHarness !== true) {
      script = message.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n');
      turn = 0;
    } else if (message.role === 'assistant' && message.runId === request.runId) {
      turn += 1;
      turnOfRun += 1;
    }
  }
  const newest = request.messages.at(-1);
  return { script, turn, turnOfRun, mending: newest?.role === 'user' && newest.fromHarness === true };
}
