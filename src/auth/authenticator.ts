import type { IncomingHttpHeaders } from 'node:http';
import type { Principal } from './principal.js';

/** What a caller shows. */
export interface Credentials {
  /** The key or token, from `Authorization: Bearer …` or `X-API-Key`; undefined when there is none. */
  readonly bearer: string | undefined;
}

/** Knows who calls. */
export abstract class Authenticator {
  /** @throws AppError `UNAUTHENTICATED` */
  abstract authenticate(credentials: Credentials): Principal;
}

const BEARER = /^Bearer +([^\s]+) *$/i;

/** The credentials in the head of a call. `Authorization` goes before `X-API-Key`. */
export function credentialsOf(headers: IncomingHttpHeaders): Credentials {
  const { authorization, 'x-api-key': apiKey } = headers;
  if (authorization !== undefined) return { bearer: BEARER.exec(authorization)?.[1] };
  return { bearer: typeof apiKey === 'string' && apiKey !== '' ? apiKey : undefined };
}
