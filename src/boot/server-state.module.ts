import { Module, type DynamicModule } from '@nestjs/common';
import { Readiness } from '../observability/readiness.js';
import type { ServerState } from './server-state.js';

/** Gives the health routes their answer. */
@Module({})
export class ServerStateModule {
  static of(state: ServerState): DynamicModule {
    return {
      module: ServerStateModule,
      providers: [{ provide: Readiness, useValue: state }],
      exports: [Readiness],
    };
  }
}
