import type { JsonObject } from '../../../common/json.js';
import type { SubagentDirectory } from '../../ports/subagents.port.js';
import { failure, type ToolCallResult } from '../tool-call.js';

/** How far sub-agents may go. */
export interface SubagentLimits {
  /** Items of one `multitask` call; 0 = any number. */
  readonly maxTasks: number;
  /** How deep agents may call agents: 2 = a sub-agent may call sub-agents, and those may not. */
  readonly maxDepth: number;
  /** Tasks of one call that run at the same time. */
  readonly concurrency: number;
}

export const DEFAULT_SUBAGENT_LIMITS: SubagentLimits = { maxTasks: 5, maxDepth: 2, concurrency: 5 };

/** The arguments of one task. */
export function taskProperties(): JsonObject {
  return {
    agent_name: { type: 'string', description: 'the name of the sub-agent' },
    prompt: { type: 'string', description: 'the whole task: the sub-agent sees nothing of this conversation' },
    description: { type: 'string', description: 'a very short label' },
  };
}

/** Names the agents that may be called. */
export function agentsText(agents: SubagentDirectory): string {
  const listed = agents.listed().map(({ name, description }) => `${name}: ${description}`);
  return listed.length === 0 ? 'There are no sub-agents.' : `The sub-agents:\n${listed.join('\n')}`;
}

export function unknownAgent(name: string, agents: SubagentDirectory): ToolCallResult {
  const message = unknownAgentText(name, agents);
  return failure('AGENT_UNKNOWN', message, `Not run: ${message}.`);
}

export function unknownAgentText(name: string, agents: SubagentDirectory): string {
  const names = agents.listed().map((agent) => agent.name);
  return `there is no sub-agent named "${name}"; there are ${names.join(', ') || 'none'}`;
}

/** @returns why nothing starts, or undefined */
export function tooDeep(path: readonly string[], { maxDepth }: SubagentLimits): ToolCallResult | undefined {
  if (path.length < maxDepth) return undefined;
  const message = `sub-agents may call sub-agents ${maxDepth} levels deep, and this is level ${path.length}`;
  return failure('TASK_TOO_DEEP', message, `Not run: ${message}.`);
}
