import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { ConfigError } from '../config/config-error.js';
import type { HarnessAgentSettings } from '../config/config.js';
import { Config } from '../config/config.js';
import { nearest } from '../config/key-names.js';
import type { AgentDefinition, ExposeDoor } from './agent.js';
import { readAgentFile } from './agent-file.js';

/** The agent that environment variables may change: `SYSTEM_PROMPT`, `DESCRIPTION`, `TOOLS`. */
const HARNESS_AGENT = 'harness_agent';

/** The agents of this server, read from `agents.dir` once, at the start. */
@Injectable()
export class AgentCatalog {
  private readonly agents: ReadonlyMap<string, AgentDefinition>;

  /** @throws ConfigError when a file is not right, or a key of the configuration names an agent that is not there */
  constructor(config: Config) {
    const { dir, harnessAgent } = config.agents;
    const agents = new Map(
      fileNames(dir)
        .map((file) => readAgentFile(join(dir, file)))
        .map((agent) => [agent.name, agent]),
    );
    applyVariables(agents, harnessAgent, dir);
    this.agents = agents;
    this.checkDefault(config.runs.defaultAgent, dir);
  }

  /** The agent of that name, exposed or not; names are case-sensitive. */
  find(name: string): AgentDefinition | undefined {
    return this.agents.get(name);
  }

  /** The agents that a dialect may serve, by name. */
  exposedTo(door: ExposeDoor): readonly AgentDefinition[] {
    return this.all().filter((agent) => agent.expose.includes(door));
  }

  /** Every agent, by name. */
  all(): readonly AgentDefinition[] {
    return [...this.agents.values()];
  }

  /**
   * Checks that every agent's tools exist; called once at the start.
   * @throws ConfigError naming the agent, the tool and the nearest tool
   */
  checkTools(known: readonly string[]): void {
    for (const agent of this.all()) {
      const missing = agent.tools.find((tool) => !known.includes(tool));
      if (missing === undefined) continue;
      throw new ConfigError(
        `the agent ${agent.name} has the tool ${missing}, which does not exist; ` +
          `accepted are ${known.join(', ')}, the nearest is ${nearest(missing, known) ?? 'none'}`,
      );
    }
  }

  private checkDefault(name: string, dir: string): void {
    const candidates = this.exposedTo('v1').map((agent) => agent.name);
    if (candidates.includes(name)) return;
    throw new ConfigError(
      `runs.defaultAgent is ${name}, but no agent of that name in ${dir} is exposed to v1; ` +
        `accepted are ${candidates.join(', ') || 'none'}, the nearest is ${nearest(name, candidates) ?? 'none'}`,
    );
  }
}

function fileNames(dir: string): string[] {
  try {
    return readdirSync(dir)
      .filter((name) => name.endsWith('.md') && !name.startsWith('.'))
      .sort();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new ConfigError(`agents.dir ${dir} cannot be read (${code}); it must be a folder of agent files`);
  }
}

function applyVariables(agents: Map<string, AgentDefinition>, changes: HarnessAgentSettings, dir: string): void {
  if (Object.keys(changes).length === 0) return;
  const agent = agents.get(HARNESS_AGENT);
  if (agent === undefined) {
    throw new ConfigError(
      `SYSTEM_PROMPT, DESCRIPTION and TOOLS change the agent ${HARNESS_AGENT}, but ${dir} has no ${HARNESS_AGENT}.md`,
    );
  }
  agents.set(HARNESS_AGENT, { ...agent, ...changes });
}
