import { Global, Module } from '@nestjs/common';
import { AgentCatalog } from './agent-catalog.js';
import { CatalogDirectory } from './catalog-directory.js';
import { HarnessService } from './harness.service.js';
import { ModelRegistry } from './models/model-registry.js';
import { AgentDirectory } from './ports/agent-directory.port.js';
import { ToolRegistry } from './tools/tool-registry.js';

/** Agents, their models and tools, and the engine that runs them. */
@Global()
@Module({
  providers: [
    AgentCatalog,
    { provide: AgentDirectory, useClass: CatalogDirectory },
    ModelRegistry,
    ToolRegistry,
    HarnessService,
  ],
  exports: [AgentCatalog, AgentDirectory, ModelRegistry, HarnessService],
})
export class HarnessModule {}
