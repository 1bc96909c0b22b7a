import { Injectable } from '@nestjs/common';
import type { EngineEvent } from '../../events/harness-event.js';
import { HarnessService } from '../../harness/harness.service.js';
import type { AgentRun } from '../../harness/ports/agent-run.js';
import { AgentRuntime } from '../ports/agent-runtime.port.js';

/** The engine of this server. */
@Injectable()
export class EngineRuntime extends AgentRuntime {
  constructor(private readonly harness: HarnessService) {
    super();
  }

  run(input: AgentRun, signal: AbortSignal): AsyncIterable<EngineEvent> {
    return this.harness.run(input, signal);
  }
}
