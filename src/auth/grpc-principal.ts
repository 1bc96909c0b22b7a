import type { IncomingHttpHeaders } from 'node:http';
import type { Metadata } from '@grpc/grpc-js';
import type { Principal } from './principal.js';

/** A call and its handler share one Metadata object, and nothing else that a guard could write to. */
const principals = new WeakMap<Metadata, Principal>();

/** Keeps the caller of a gRPC call; done by the guard. */
export function keepPrincipal(metadata: Metadata, principal: Principal): void {
  principals.set(metadata, principal);
}

/** The caller of a gRPC call, as the guard found it. */
export function principalOf(metadata: Metadata): Principal {
  const principal = principals.get(metadata);
  if (principal === undefined) throw new Error('no guard has seen this call');
  return principal;
}

/** What a call shows of who calls, as headers of a request. */
export function headersOf(metadata: Metadata): IncomingHttpHeaders {
  const single = (name: string): string | undefined => {
    const values = metadata.get(name);
    // Two of them leave open which one counts.
    return values.length === 1 ? String(values[0]) : values.length === 0 ? undefined : '';
  };
  return { authorization: single('authorization'), 'x-api-key': single('x-api-key') };
}
