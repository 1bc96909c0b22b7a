import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { BodyReader } from './body-reader.interceptor.js';
import { DIALECT_ERRORS, type DialectErrors } from './dialect-errors.js';
import { ErrorFilter } from './error.filter.js';
import { OpenStreams } from './open-streams.js';
import { OriginGuard } from './origin.guard.js';
import { PathRules } from './path-rules.js';

/** What every HTTP door shares: bodies, errors, path and origin rules, open streams. */
@Module({})
export class HttpModule {
  /** @param dialects the errors of each door; the first that owns a path answers it */
  static withDialects(...dialects: readonly Type<DialectErrors>[]): DynamicModule {
    return {
      module: HttpModule,
      global: true,
      providers: [
        ...dialects,
        { provide: DIALECT_ERRORS, useFactory: (...errors: DialectErrors[]) => errors, inject: [...dialects] },
        ErrorFilter,
        OpenStreams,
        { provide: APP_FILTER, useExisting: ErrorFilter },
        { provide: APP_INTERCEPTOR, useClass: BodyReader },
        { provide: APP_GUARD, useClass: PathRules },
        { provide: APP_GUARD, useClass: OriginGuard },
      ],
      exports: [...dialects, ErrorFilter, OpenStreams],
    };
  }
}
