import type { EngineEvent } from '../../events/harness-event.js';
import type { ToolCallRequest } from '../../events/values.js';
import type { RunInputs } from '../../harness/ports/run-inputs.port.js';
import type { RunFacts } from '../../events/projection.js';
import type { ChatMessage } from '../../harness/ports/chat-model.port.js';

/** What a runtime gets to run or go on with a run. */
export interface RuntimeInput {
  readonly run: RunFacts;
  readonly attempt: number;
  /** IANA name of the message, else of the session. */
  readonly timeZone: string | undefined;
  readonly messages: readonly ChatMessage[];
  readonly turnsTaken: number;
  readonly openCalls?: { readonly reasonId: string; readonly calls: readonly ToolCallRequest[] };
  readonly pictureCount: number;
  readonly responseSchema: object | undefined;
  readonly inputs: RunInputs;
}

/** Runs an agent: the engine of this server, later others. */
export abstract class AgentRuntime {
  /**
   * @param signal aborts model and tools within 100 ms; the stream then ends by throwing its reason
   */
  abstract run(input: RuntimeInput, signal: AbortSignal): AsyncIterable<EngineEvent>;
}
