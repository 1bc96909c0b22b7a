import { Module } from '@nestjs/common';
import { AdkBodies } from './adk-bodies.js';
import { AdkJson } from './adk-json.interceptor.js';
import { AdkOriginGuard } from './adk-origin.guard.js';
import { AdkRunSseController } from './run-sse.controller.js';
import { AdkRunStream } from './run-stream.js';
import { AdkServiceController } from './service.controller.js';
import { AdkSessionView } from './session-view.js';
import { AdkSessionsController } from './sessions.controller.js';

/** The wire of Google's ADK and of the AgentKit runtime. */
@Module({
  controllers: [AdkServiceController, AdkSessionsController, AdkRunSseController],
  providers: [AdkBodies, AdkJson, AdkOriginGuard, AdkRunStream, AdkSessionView],
})
export class AdkModule {}
