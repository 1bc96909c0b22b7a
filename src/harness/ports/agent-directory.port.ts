import type { Capability } from '../../events/projection.js';

/** What sessions and runs need to know of an agent. */
export abstract class AgentDirectory {
  /**
   * An agent that `/v1` and gRPC serve.
   * @throws AppError `AGENT_NOT_FOUND`
   */
  abstract find(name: string): { readonly name: string; readonly capabilities: readonly Capability[] };
}
