import { Global, Module } from '@nestjs/common';
import { Config } from '../config/config.js';
import { Logger } from './logger.js';
import { Metrics } from './metrics.js';
import { PinoLogger } from './pino-logger.js';

/** Gives `Logger` and `Metrics` to every module. */
@Global()
@Module({
  providers: [
    { provide: Logger, useFactory: (config: Config) => PinoLogger.create(config), inject: [Config] },
    Metrics,
  ],
  exports: [Logger, Metrics],
})
export class ObservabilityModule {}
