import { Module, type DynamicModule, type ModuleMetadata } from '@nestjs/common';
import { HealthController } from './health.controller.js';

/** The routes of probes and scrapers. */
@Module({})
export class HealthModule {
  /** @param imports the module that exports `Readiness` */
  static with(imports: NonNullable<ModuleMetadata['imports']>): DynamicModule {
    return { module: HealthModule, imports, controllers: [HealthController] };
  }
}
