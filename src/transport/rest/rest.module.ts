import { Module } from '@nestjs/common';
import { ActionsController } from './actions.controller.js';
import { AgentsController } from './agents.controller.js';
import { LaterController } from './later.controller.js';
import { ResourcesController } from './resources.controller.js';
import { RestBodies } from './rest-bodies.js';
import { RunStreams } from './run-streams.js';
import { RunsController } from './runs.controller.js';
import { SessionsController } from './sessions.controller.js';
import { UploadReader } from './upload-reader.js';

/** The `/v1` dialect. Its errors are `RestErrors`, given to `HttpModule.withDialects`. */
@Module({
  controllers: [
    AgentsController,
    SessionsController,
    ActionsController,
    RunsController,
    ResourcesController,
    LaterController,
  ],
  providers: [RestBodies, RunStreams, UploadReader],
})
export class RestModule {}
