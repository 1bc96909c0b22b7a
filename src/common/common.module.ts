import { Global, Module } from '@nestjs/common';
import { Clock, SystemClock } from './clock.js';
import { Ids, UuidIds } from './ids.js';

/** Time and identity. */
@Global()
@Module({
  providers: [
    { provide: Clock, useClass: SystemClock },
    { provide: Ids, useClass: UuidIds },
  ],
  exports: [Clock, Ids],
})
export class CommonModule {}
