import type { ChatModel } from './chat-model.port.js';

/** An agent that others may call (contract engine §4). */
export interface Subagent {
  readonly name: string;
  /** What it is for; the calling model reads it. */
  readonly description: string;
  /** Not listed; it can still be called by its name. */
  readonly isHidden: boolean;
  readonly systemPrompt: string;
  /** undefined = the model of whoever calls. */
  readonly model: ChatModel | undefined;
  /** Model calls of one task; undefined = the limit of whoever calls. */
  readonly maxTurns: number | undefined;
  /** Whether it may have a tool of its caller; it never gets one that its caller lacks. */
  mayUse(toolName: string): boolean;
}

/** Which sub-agents there are. */
export abstract class SubagentDirectory {
  abstract find(name: string): Subagent | undefined;
  /** Those that are not hidden, in their order. */
  abstract listed(): readonly Subagent[];
}
