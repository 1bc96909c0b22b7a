import { Authenticator } from './authenticator.js';
import type { Principal } from './principal.js';

const EVERYBODY: Principal = Object.freeze({
  tenantId: 'default',
  subject: 'local',
  scopes: new Set(['audit:read', 'admin'] as const),
  mode: 'none',
});

/** Mode `none`: everybody is the one local user, with every scope. */
export class OpenAuthenticator extends Authenticator {
  authenticate(): Principal {
    return EVERYBODY;
  }
}
