import { Module, type DynamicModule, type ModuleMetadata } from '@nestjs/common';
import { HealthController, PlainHealthController } from './health.controller.js';

/** The routes of probes and scrapers. */
@Module({})
export class HealthModule {
  /**
   * @param imports the module that exports `Readiness`
   * @param isAlone true for a process without doors: no dialect brings `GET /health` then
   */
  static with(imports: NonNullable<ModuleMetadata['imports']>, isAlone = false): DynamicModule {
    const controllers = isAlone ? [HealthController, PlainHealthController] : [HealthController];
    return { module: HealthModule, imports, controllers };
  }
}
