import { createHash, timingSafeEqual } from 'node:crypto';
import { AppError } from '../common/app-error.js';
import type { KeyEntry } from '../config/auth-keys.js';
import { Authenticator, type Credentials } from './authenticator.js';
import type { Principal, Scope } from './principal.js';

interface KnownKey {
  readonly digest: Buffer;
  readonly principal: Principal;
}

/** Mode `key`: knows the digests of keys, never a key. */
export class KeyAuthenticator extends Authenticator {
  private readonly keys: readonly KnownKey[];

  constructor(entries: readonly KeyEntry[]) {
    super();
    this.keys = entries.map((entry) => ({ digest: Buffer.from(entry.sha256, 'hex'), principal: principalOf(entry) }));
  }

  authenticate({ bearer }: Credentials): Principal {
    if (bearer === undefined) {
      throw new AppError('UNAUTHENTICATED', 'a key is needed, as `Authorization: Bearer <key>` or `X-API-Key`');
    }
    const digest = createHash('sha256').update(bearer).digest();
    let found: Principal | undefined;
    // Every key is compared, so that the time tells nothing about which one was near.
    for (const known of this.keys) if (timingSafeEqual(known.digest, digest)) found = known.principal;
    if (found === undefined) throw new AppError('UNAUTHENTICATED', 'the key is not known');
    return found;
  }
}

function principalOf({ tenantId, userId, scopes }: KeyEntry): Principal {
  // The scope `admin` includes the other.
  const granted: readonly Scope[] = scopes.includes('admin') ? ['admin', 'audit:read'] : scopes;
  return Object.freeze({ tenantId, subject: userId, scopes: new Set(granted), mode: 'key' as const });
}
