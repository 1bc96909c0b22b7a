import { Injectable } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';
import { Strategy } from 'passport-custom';
import { Authenticator, credentialsOf } from './authenticator.js';

/** Passport's view of the authenticator; works for whatever has headers, an HTTP request or a gRPC call. */
@Injectable()
export class BearerStrategy extends Strategy {
  constructor(authenticator: Authenticator) {
    super((request: { headers: IncomingHttpHeaders }, done: (error: unknown, user?: unknown) => void) => {
      try {
        done(null, authenticator.authenticate(credentialsOf(request.headers)));
      } catch (error) {
        done(error);
      }
    });
  }
}
