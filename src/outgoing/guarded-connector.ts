import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { isAddress, type AddressRules, type Target } from './address-rules.js';

/** The rules forbid the address; the message is for logs. */
export class BlockedAddressError extends Error {
  constructor(target: Target) {
    super(`${target.host}:${target.port} has no allowed address`);
    this.name = 'BlockedAddressError';
  }
}

/** Resolves a name to all its addresses. */
export type ResolveAddresses = (host: string) => Promise<readonly LookupAddress[]>;

/** As the operating system resolves names, hosts file included. */
export const resolveBySystem: ResolveAddresses = (host) =>
  new Promise((resolve, reject) => {
    systemLookup(host, { all: true }, (error, addresses) => {
      if (error === null) resolve(addresses);
      else reject(error);
    });
  });

/**
 * Connects only where the rules allow it. The address is judged in the very look-up that the socket connects by, so
 * a name cannot answer one address to a check and another to the connection; nothing above can go round it.
 * @param timeoutMs to the end of the handshake
 */
export function guardedConnector(
  rules: AddressRules,
  resolveAddresses: ResolveAddresses,
  timeoutMs: number,
): buildConnector.connector {
  return (options, callback) => {
    const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80);
    const target = { host: options.hostname, port };
    // a socket asks no look-up for a literal address
    if (isAddress(target.host) && !rules.allows(target, target.host.replace(/^\[|\]$/g, ''))) {
      callback(new BlockedAddressError(target), null);
      return;
    }
    const lookup = guardedLookup(rules, resolveAddresses, target);
    buildConnector({ timeout: timeoutMs, lookup })(options, callback);
  };
}

function guardedLookup(rules: AddressRules, resolveAddresses: ResolveAddresses, target: Target): LookupFunction {
  return (host, options, callback) => {
    resolveAddresses(host).then(
      (addresses) => {
        const allowed = addresses.filter(({ address }) => rules.allows(target, address));
        const [first] = allowed;
        if (first === undefined) callback(new BlockedAddressError(target), '', 0);
        else if (options.all === true) callback(null, [...allowed]);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => {
        callback(error as NodeJS.ErrnoException, '', 0);
      },
    );
  };
}
