import { Global, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { Config } from '../config/config.js';
import { AccessGuard } from './access.guard.js';
import { Authenticator } from './authenticator.js';
import { BearerStrategy } from './bearer.strategy.js';
import { CallAccess } from './call-access.service.js';
import { KeyAuthenticator } from './key-authenticator.js';
import { OpenAuthenticator } from './open-authenticator.js';

function authenticatorFor({ auth }: Config): Authenticator {
  return auth.mode === 'key' ? new KeyAuthenticator(auth.keys) : new OpenAuthenticator();
}

/** Guards every door, HTTP and gRPC (there only with `inheritAppConfig: true`). */
@Global()
@Module({
  providers: [
    { provide: Authenticator, useFactory: authenticatorFor, inject: [Config] },
    BearerStrategy,
    CallAccess,
    { provide: APP_GUARD, useClass: AccessGuard },
  ],
  exports: [Authenticator, CallAccess],
})
export class AuthModule {}
