import type { Capability } from '../events/projection.js';

/** A dialect that may serve an agent. */
export type ExposeDoor = 'v1' | 'adk' | 'solon';

/** One agent file, `config/agents/<name>.md`, read and validated. */
export interface AgentDefinition {
  /** The file name without `.md`. */
  readonly name: string;
  readonly description: string;
  /** The body of the file: the system prompt. */
  readonly systemPrompt: string;
  /** A model's name; undefined = the configured default model. */
  readonly model: string | undefined;
  /** Names of built-in tools. */
  readonly tools: readonly string[];
  readonly capabilities: readonly Capability[];
  readonly expose: readonly ExposeDoor[];
  readonly maxTurns: number | undefined;
}
