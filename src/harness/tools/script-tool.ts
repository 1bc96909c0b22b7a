import type { Clock } from '../../common/clock.js';
import type { JsonObject } from '../../common/json.js';
import { pause } from '../../common/abort.js';
import { Tool, type ToolContext, type ToolEffect, type ToolResult } from '../ports/tool.port.js';
import type { EffectsFile } from './effects-file.js';

/**
 * A test tool of the script model: takes its time, then leaves one line in the effects file. An aborted call has
 * had no effect.
 */
export class ScriptTool extends Tool {
  readonly declaration;
  readonly effect: ToolEffect;

  /** @param name `ro_…` is read only, `idem_…` idempotent, every other name unsafe to repeat */
  constructor(
    private readonly name: string,
    private readonly effects: EffectsFile,
    private readonly clock: Clock,
  ) {
    super();
    this.effect = effectOf(name);
    this.declaration = {
      name,
      description: 'A test tool: takes its time and appends one line to the effects file.',
      parameters: {
        type: 'object',
        properties: {
          ms: { type: 'integer', minimum: 0, description: 'how long it takes, milliseconds' },
          block: { type: 'boolean', description: 'whether it blocks the event loop meanwhile' },
        },
        required: ['ms'],
        additionalProperties: false,
      },
    } as const;
  }

  async run(args: JsonObject, context: ToolContext, signal: AbortSignal): Promise<ToolResult> {
    const ms = Number(args['ms']);
    if (args['block'] === true) blockEventLoop(ms);
    await pause(args['block'] === true ? 0 : ms, signal);
    const { runId, stepKey, attempt } = context;
    await this.effects.append({ runId, stepKey, attempt, tool: this.name, at: this.clock.nowMs() });
    return `${this.name} took ${ms} ms`;
  }
}

function effectOf(name: string): ToolEffect {
  if (name.startsWith('ro_')) return 'read_only';
  return name.startsWith('idem_') ? 'idempotent' : 'unsafe';
}

/** Holds this thread without burning its processor: nothing else runs until the time is over. */
function blockEventLoop(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
