import { assertNever } from '../../../common/assert-never.js';
import type { TokenCounts } from '../../../events/values.js';
import { ChatModel, type ChatEvent, type ChatRequest, type ChatToolCall } from '../../ports/chat-model.port.js';
import { abortable, pause } from '../../../common/abort.js';
import { wordsOf } from '../words.js';
import { echoOf } from './echo.js';
import { parseScript } from './script-parser.js';
import type { ScriptStep } from './script-step.js';
import { positionOf, turnsOf, type ScriptPosition } from './script-turns.js';
import { scriptedFailure } from './scripted-failure.js';

/** What a run hears when its script is over. */
const OVER = 'done';

export interface ScriptModelOptions {
  /** Makes `tool`, `tools`, `block`, `throw` and `crash` steps; otherwise they are plain text. */
  readonly testSteps: boolean;
  /** How `crash` ends the process; default `SIGKILL`, which nothing can catch. */
  readonly crash?: () => void;
}

/** One model turn: what was said so far decides how the next step goes on. */
interface Turn {
  readonly request: ChatRequest;
  readonly position: ScriptPosition;
  readonly signal: AbortSignal;
  text: string;
  calls: number;
  usage: TokenCounts | undefined;
}

/**
 * A model without a mind: the newest user text is a script, and it does what the script says. For tests and for
 * integrators, who need the same answer every time.
 */
export class ScriptModel extends ChatModel {
  readonly name = 'script';
  readonly acceptsPictures = true;

  constructor(private readonly options: ScriptModelOptions) {
    super();
  }

  async *stream(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    signal.throwIfAborted();
    const position = positionOf(request);
    const turn: Turn = { request, position, signal, text: '', calls: 0, usage: undefined };
    for (const step of this.stepsAt(position)) {
      if (step.kind === 'fail' && step.code === 'empty') {
        yield { type: 'finish', finishReason: 'stop', modelVersion: this.name };
        return;
      }
      yield* this.take(step, turn);
    }
    yield {
      type: 'finish',
      finishReason: turn.calls > 0 ? 'tool_calls' : 'stop',
      modelVersion: this.name,
      ...(turn.usage && { usage: turn.usage }),
    };
  }

  /** The steps of this turn; asked to mend its answer, a script gives the same one again. */
  private stepsAt(position: ScriptPosition): readonly ScriptStep[] {
    const turns = turnsOf(parseScript(position.script, this.options));
    const steps = turns[position.mending ? Math.min(position.turn, turns.length) - 1 : position.turn] ?? [];
    const speaks = steps.some((step) => step.kind !== 'think' && step.kind !== 'usage');
    return speaks ? steps : [...steps, { kind: 'say', text: OVER }];
  }

  private async *take(step: ScriptStep, turn: Turn): AsyncGenerator<ChatEvent> {
    switch (step.kind) {
      case 'say':
        yield* say(step.text, turn);
        return;
      case 'echo':
        yield* say(await abortable(echoOf(turn.request), turn.signal), turn);
        return;
      case 'think':
        yield { type: 'thinking', text: step.text };
        return;
      case 'stream':
        for (let at = 1; at <= step.count; at += 1) yield* delta(`w${at} `, at === 1 ? 0 : step.ms, turn);
        return;
      case 'usage':
        turn.usage = tokensOf(step.promptTokens, step.completionTokens);
        return;
      case 'tools':
        for (const { name, ms } of step.calls) yield { type: 'tool_call', call: callOf(name, { ms }, turn) };
        return;
      case 'block':
        yield { type: 'tool_call', call: callOf(step.call.name, { ms: step.call.ms, block: true }, turn) };
        return;
      case 'call':
        yield { type: 'tool_call', call: callOf(step.name, step.args, turn) };
        return;
      case 'fail':
        if (step.code === 'cut' && turn.text === '') yield* say('this answer is cut in the', turn);
        throw scriptedFailure(step.code);
      case 'throw':
        throw new Error('the script threw');
      case 'crash':
        (this.options.crash ?? killProcess)();
        throw new Error('the script crashed');
      default:
        return assertNever(step);
    }
  }
}

const killProcess = (): void => {
  process.kill(process.pid, 'SIGKILL');
};

/** Says a text word by word; a second text of the same turn starts on a line of its own. */
async function* say(text: string, turn: Turn): AsyncGenerator<ChatEvent> {
  const lead = turn.text === '' || /\s$/.test(turn.text) ? '' : '\n';
  for (const word of wordsOf(lead + text)) yield* delta(word, 0, turn);
}

async function* delta(text: string, ms: number, turn: Turn): AsyncGenerator<ChatEvent> {
  await pause(ms, turn.signal);
  turn.text += text;
  yield { type: 'text', text };
}

/** Ids follow from the run and its turn, so that a repeated turn makes the same calls. */
function callOf(name: string, args: ChatToolCall['args'], turn: Turn): ChatToolCall {
  turn.calls += 1;
  return { id: `call_${turn.request.runId}_${turn.position.turnOfRun + 1}_${turn.calls}`, name, args };
}

function tokensOf(promptTokens: number, completionTokens: number): TokenCounts {
  return {
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    cacheCreationInputTokens: 0,
    cacheReadInputTokens: 0,
  };
}
