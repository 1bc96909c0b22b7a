import type { EngineEvent } from '../../events/harness-event.js';
import type { AgentRun } from '../../harness/ports/agent-run.js';

/** Runs an agent: the engine of this server, later others. */
export abstract class AgentRuntime {
  /**
   * @param signal aborts model and tools within 100 ms; the stream then ends by throwing its reason
   */
  abstract run(input: AgentRun, signal: AbortSignal): AsyncIterable<EngineEvent>;
}
