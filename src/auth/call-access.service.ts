import type { Metadata } from '@grpc/grpc-js';
import { Injectable } from '@nestjs/common';
import { Authenticator, credentialsOf } from './authenticator.js';
import { headersOf } from './grpc-principal.js';

/** Tells by its headers alone whether a gRPC call may go on. */
@Injectable()
export class CallAccess {
  constructor(private readonly authenticator: Authenticator) {}

  /** @throws AppError `UNAUTHENTICATED` */
  check(metadata: Metadata): void {
    this.authenticator.authenticate(credentialsOf(headersOf(metadata)));
  }
}
