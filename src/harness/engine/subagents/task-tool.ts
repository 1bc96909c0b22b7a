import type { JsonObject } from '../../../common/json.js';
import type { EngineEvent } from '../../../events/harness-event.js';
import type { SubagentDirectory } from '../../ports/subagents.port.js';
import type { ToolEffect } from '../../ports/tool.port.js';
import { SteppedTool, type CallEnding, type SteppedCall } from '../stepped-tool.js';
import { failure, type ToolCallResult } from '../tool-call.js';
import { runChild, type TaskEnding } from './child-run.js';
import { taskText } from './task-results.js';
import { agentsText, taskProperties, tooDeep, unknownAgent, type SubagentLimits } from './task-rules.js';

/** Hands one piece of work to a sub-agent and waits for its answer (contract engine §4). */
export class TaskTool extends SteppedTool {
  readonly declaration;
  readonly effect: ToolEffect = 'unsafe';

  constructor(
    private readonly agents: SubagentDirectory,
    private readonly limits: SubagentLimits,
  ) {
    super();
    this.declaration = {
      name: 'task',
      description: `Hands one piece of work to a sub-agent and returns its answer. ${agentsText(agents)}`,
      parameters: {
        type: 'object',
        required: ['agent_name', 'prompt', 'description'],
        properties: taskProperties(),
      },
    } as const;
  }

  async *steps(args: JsonObject, call: SteppedCall, signal: AbortSignal): AsyncGenerator<EngineEvent, CallEnding> {
    const { agent_name: name, prompt, description } = args as Readonly<Record<string, string>>;
    const agent = this.agents.find(name ?? '');
    if (agent === undefined) return { kind: 'ended', result: unknownAgent(name ?? '', this.agents) };
    const refusal = tooDeep(call.input.path, this.limits);
    if (refusal !== undefined) return { kind: 'ended', result: refusal };
    const task = { index: 1, agent, prompt: prompt ?? '', description: description ?? '' };
    const ending = yield* runChild(task, call, call.children[0], signal);
    if (ending.waiting !== undefined) return { kind: 'waiting', waiting: ending.waiting };
    return {
      kind: 'ended',
      result: resultOf(
        ending,
        taskText({ task: { index: 1, agentName: agent.name, description: task.description }, ending }),
      ),
    };
  }
}

/** What did not succeed is an error for the model and for observers. */
function resultOf({ status, text }: TaskEnding, whole: string): ToolCallResult {
  if (status === 'success') return { outcome: 'ok', text: whole, error: null, isJson: false };
  return failure('TASK_FAILED', `the task ended as ${status}: ${text}`, whole);
}
