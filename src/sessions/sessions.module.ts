import { Global, Module } from '@nestjs/common';
import { SessionReader } from './session-reader.js';
import { SessionsService } from './sessions.service.js';

/** Sessions and their scoped state. */
@Global()
@Module({ providers: [SessionReader, SessionsService], exports: [SessionReader, SessionsService] })
export class SessionsModule {}
