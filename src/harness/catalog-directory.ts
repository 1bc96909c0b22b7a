import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error.js';
import type { AgentDefinition } from './agent.js';
import { AgentCatalog } from './agent-catalog.js';
import { AgentDirectory } from './ports/agent-directory.port.js';

/** The agent files that `/v1` may serve. */
@Injectable()
export class CatalogDirectory extends AgentDirectory {
  constructor(private readonly catalog: AgentCatalog) {
    super();
  }

  find(name: string): AgentDefinition {
    const agent = this.catalog.find(name);
    if (agent === undefined || !agent.expose.includes('v1')) throw AppError.notFound('agent', name);
    return agent;
  }
}
