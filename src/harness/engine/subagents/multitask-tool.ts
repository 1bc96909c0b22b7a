import { isJsonObject, type Json, type JsonObject } from '../../../common/json.js';
import type { EngineEvent } from '../../../events/harness-event.js';
import type { SubagentDirectory } from '../../ports/subagents.port.js';
import type { ToolEffect } from '../../ports/tool.port.js';
import { Race } from '../race.js';
import { allWaiting, SteppedTool, type CallEnding, type SteppedCall } from '../stepped-tool.js';
import { failure, type ToolCallResult } from '../tool-call.js';
import { runChild, type Task, type TaskEnding } from './child-run.js';
import { multitaskText, type TaskReport } from './task-results.js';
import { agentsText, taskProperties, tooDeep, unknownAgentText, type SubagentLimits } from './task-rules.js';

interface Item {
  readonly index: number;
  readonly agent_name: string;
  readonly prompt: string;
  readonly description: string;
}

/** Hands several pieces of work to sub-agents that run at the same time (contract engine §4). */
export class MultitaskTool extends SteppedTool {
  readonly declaration;
  readonly effect: ToolEffect = 'unsafe';

  constructor(
    private readonly agents: SubagentDirectory,
    private readonly limits: SubagentLimits,
  ) {
    super();
    const most = limits.maxTasks === 0 ? '' : ` At most ${limits.maxTasks} in one call.`;
    const item = {
      type: 'object',
      required: ['index', 'agent_name', 'prompt', 'description'],
      properties: {
        index: { type: 'integer', default: 1, description: 'unique, from 1' },
        ...taskProperties(),
      },
    };
    this.declaration = {
      name: 'multitask',
      description: `Hands independent pieces of work to sub-agents that run at the same time.${most} ${agentsText(agents)}`,
      // Models also send the list as JSON text.
      parameters: {
        type: 'object',
        required: ['tasks'],
        properties: { tasks: { anyOf: [{ type: 'array', items: item }, { type: 'string' }] } },
      },
    } as const;
  }

  async *steps(args: JsonObject, call: SteppedCall, signal: AbortSignal): AsyncGenerator<EngineEvent, CallEnding> {
    const items = itemsOf(args['tasks'] ?? []);
    const refusal = typeof items === 'string' ? invalid(items) : this.refusalOf(items, call);
    if (refusal !== undefined) return { kind: 'ended', result: refusal };
    const endings = yield* this.runAll(items as readonly Item[], call, signal);
    const waiting = [...endings.values()].flatMap((ending) => (ending.waiting === undefined ? [] : [ending.waiting]));
    if (waiting.length > 0) return { kind: 'waiting', waiting: allWaiting(waiting) };
    const reports = (items as readonly Item[]).map((item) => this.reportOf(item, endings.get(item.index)));
    return { kind: 'ended', result: resultOf(reports) };
  }

  /** Why none of the items starts. */
  private refusalOf(items: readonly Item[], { input }: SteppedCall): ToolCallResult | undefined {
    const { maxTasks } = this.limits;
    if (items.length === 0) return invalid('the list of tasks is empty');
    if (maxTasks > 0 && items.length > maxTasks) {
      return invalid(`${items.length} tasks were given and at most ${maxTasks} may run in one call; send fewer`);
    }
    const indices = new Set(items.map(({ index }) => index));
    if (indices.size < items.length) return invalid('each task needs an index of its own');
    return tooDeep(input.path, this.limits);
  }

  private async *runAll(
    items: readonly Item[],
    call: SteppedCall,
    signal: AbortSignal,
  ): AsyncGenerator<EngineEvent, ReadonlyMap<number, TaskEnding>> {
    const waiting = items.flatMap((item): Task[] => {
      const agent = this.agents.find(item.agent_name);
      return agent === undefined ? [] : [{ ...item, agent }];
    });
    const race = new Race<Task, EngineEvent, TaskEnding>();
    const endings = new Map<number, TaskEnding>();
    while (waiting.length > 0 || race.size > 0) {
      while (waiting.length > 0 && race.size < this.limits.concurrency) {
        const task = waiting.shift()!;
        const before = call.children.find(({ taskIndex }) => taskIndex === task.index);
        race.add(task, runChild(task, call, before, signal));
      }
      const step = await race.step();
      if (step.kind === 'event') {
        yield step.event;
        race.resume(step.key);
      } else {
        endings.set(step.key.index, step.result);
      }
    }
    return endings;
  }

  private reportOf({ index, agent_name: agentName, description }: Item, ending: TaskEnding | undefined): TaskReport {
    const failed = { status: 'failure', text: unknownAgentText(agentName, this.agents) } as const;
    return { task: { index, agentName, description }, ending: ending ?? failed };
  }
}

/** The items, or what is wrong with them. */
function itemsOf(tasks: Json): readonly Item[] | string {
  if (typeof tasks !== 'string') return tasks as unknown as readonly Item[];
  let parsed: unknown;
  try {
    parsed = JSON.parse(tasks);
  } catch {
    return 'tasks is text that is not JSON';
  }
  const isList = Array.isArray(parsed) && parsed.every((item) => isJsonObject(item) && isItem(item));
  return isList ? (parsed as readonly Item[]) : 'tasks must be a list of {index, agent_name, prompt, description}';
}

function isItem(item: JsonObject): boolean {
  const texts = [item['agent_name'], item['prompt'], item['description']];
  return Number.isInteger(item['index']) && texts.every((text) => typeof text === 'string');
}

function invalid(message: string): ToolCallResult {
  return failure('ARGS_INVALID', message, `Not run: ${message}.`);
}

/** The call went well when any item did: each carries its own status. */
function resultOf(reports: readonly TaskReport[]): ToolCallResult {
  const text = multitaskText(reports);
  const hasWorked = reports.some(({ ending }) => ending.status === 'success');
  if (hasWorked) return { outcome: 'ok', text, error: null, isJson: false };
  return failure('TASK_FAILED', 'none of the tasks succeeded', text);
}
