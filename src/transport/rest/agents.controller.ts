import { Controller, Get } from '@nestjs/common';
import type { JsonObject } from '../../common/json.js';
import { HarnessService } from '../../harness/harness.service.js';
import { ListAgentsDocs } from './rest.docs.js';

/** The agents that a session may name. */
@Controller('v1/agents')
export class AgentsController {
  constructor(private readonly harness: HarnessService) {}

  @Get()
  @ListAgentsDocs()
  list(): JsonObject {
    const agents = this.harness.agentsFor('v1').map(({ agent }) => ({
      name: agent.name,
      description: agent.description,
      capabilities: [...agent.capabilities].sort(),
      model: this.harness.modelOf(agent),
      result_kinds: agent.capabilities.length > 0 ? ['json'] : ['text'],
    }));
    return { agents };
  }
}
