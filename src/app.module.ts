import { Module, type DynamicModule } from '@nestjs/common';
import { AuthModule } from './auth/auth.module.js';
import { ServerState } from './boot/server-state.js';
import { ServerStateModule } from './boot/server-state.module.js';
import { CommonModule } from './common/common.module.js';
import { Config } from './config/config.js';
import { ConfigModule } from './config/config.module.js';
import { Database } from './database/database.js';
import { DatabaseModule } from './database/database.module.js';
import { HarnessModule } from './harness/harness.module.js';
import { HealthModule } from './observability/health.module.js';
import { ObservabilityModule } from './observability/observability.module.js';
import { RunsModule } from './runs/runs.module.js';
import { SessionsModule } from './sessions/sessions.module.js';
import { StorageModule } from './storage/storage.module.js';
import { AdkErrors } from './transport/adk/adk.errors.js';
import { AdkModule } from './transport/adk/adk.module.js';
import { GrpcModule } from './transport/grpc/grpc.module.js';
import { HttpModule } from './transport/http/http.module.js';
import { RestErrors } from './transport/rest/rest.errors.js';
import { RestModule } from './transport/rest/rest.module.js';
import { VisionModule } from './vision/vision.module.js';

/** The composition root: every module by its name, the doors by the server's role. */
@Module({})
export class AppModule {
  /**
   * @param database already open and migrated
   * @param state what `/readyz` says of this process
   */
  static of(config: Config, database: Database, state: ServerState): DynamicModule {
    const isWorker = config.server.role === 'worker';
    const doors = isWorker ? [] : [RestModule, AdkModule, GrpcModule];
    return {
      module: AppModule,
      imports: [
        CommonModule,
        ConfigModule.of(config),
        ObservabilityModule,
        DatabaseModule.of(database),
        StorageModule,
        AuthModule,
        HarnessModule,
        VisionModule,
        SessionsModule,
        RunsModule,
        HttpModule.withDialects(RestErrors, AdkErrors),
        HealthModule.with([ServerStateModule.of(state)], isWorker),
        ...doors,
      ],
    };
  }
}
