import ipaddr from 'ipaddr.js';

/** The operator's exceptions, as configured. */
export interface AddressLists {
  /** When not empty, only these public hosts; `host` or `host:port`. */
  readonly allowHosts: readonly string[];
  /** Hosts that may have a private, loopback or link-local address; `host` or `host:port`. */
  readonly allowPrivateHosts: readonly string[];
}

/** One end of a connection: the host as the URL names it (IPv6 with or without brackets) and the port. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Where clouds keep their machines' credentials; some of these are public addresses. */
const METADATA_ADDRESSES: ReadonlySet<string> = new Set(
  [
    '169.254.169.254', // AWS, Google, Azure and most others
    '169.254.170.2', // AWS containers
    '169.254.170.23', // AWS EKS pods
    '168.63.129.16', // Azure's host agent
    '100.100.100.200', // Alibaba
    '192.0.0.192', // Oracle
    'fd00:ec2::254', // AWS over IPv6
    'fd00:ec2::23', // AWS EKS pods over IPv6
    'fd20:ce::254', // Google over IPv6
  ].map((address) => ipaddr.parse(address).toNormalizedString()),
);

const NAT64_PREFIX = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** True when the text is an IPv4 or IPv6 address. */
export const isAddress = (host: string): boolean => ipaddr.isValid(withoutBrackets(host));

/**
 * True for an address of the public internet. An IPv4 address that is mapped into IPv6 or reached through NAT64
 * is judged as IPv4; the old tunnels (6to4, Teredo) lead anywhere and are never public.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = unwrapped(ipaddr.parse(address));
  if (METADATA_ADDRESSES.has(parsed.toNormalizedString()) || parsed.range() !== 'unicast') return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_UNICAST_V6);
}

/** Which hosts and addresses the product may connect to on behalf of a caller. Pure; the answer never changes. */
export class AddressRules {
  private readonly publicHosts: HostList;
  private readonly privateHosts: HostList;

  /** @throws Error naming the entry that is neither `host` nor `host:port` */
  constructor(lists: AddressLists) {
    this.publicHosts = new HostList(lists.allowHosts);
    this.privateHosts = new HostList(lists.allowPrivateHosts);
  }

  /**
   * True when the target may be reached at this address. A public address needs a host that `allowHosts` names, if
   * it names any; any other needs one of `allowPrivateHosts`; a metadata address must be named there itself, because
   * whoever controls a name's DNS could point it there.
   */
  allows(target: Target, address: string): boolean {
    if (!ipaddr.isValid(address)) return false;
    if (isPublicAddress(address)) return this.publicHosts.isEmpty || this.publicHosts.names(target);
    if (isMetadata(address) && !isAddress(target.host)) return false;
    return this.privateHosts.names(target);
  }
}

class HostList {
  private readonly entries: ReadonlySet<string>;

  constructor(entries: readonly string[]) {
    this.entries = new Set(entries.map(toEntry));
  }

  get isEmpty(): boolean {
    return this.entries.size === 0;
  }

  names(target: Target): boolean {
    const host = toHost(target.host);
    return host !== undefined && (this.entries.has(host) || this.entries.has(`${host}:${target.port}`));
  }
}

function toEntry(entry: string): string {
  const [, named, port] = /^(\[.+\]|[^:]+)(?::(\d{1,5}))?$/.exec(entry.trim()) ?? [];
  const host = toHost(named ?? entry.trim());
  if (host === undefined) throw new Error(`an allowed host must be "host" or "host:port", got "${entry}"`);
  return port === undefined ? host : `${host}:${Number(port)}`;
}

/** The host as `new URL` spells it: lower case, punycode, one spelling per address, no dot at the end. */
function toHost(host: string): string | undefined {
  const bare = withoutBrackets(host);
  const url = `http://${bare.includes(':') ? `[${bare}]` : bare}/`;
  if (!URL.canParse(url)) return undefined;
  const { hostname, pathname, username } = new URL(url);
  return hostname === '' || pathname !== '/' || username !== '' ? undefined : hostname.replace(/\.$/, '');
}

const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');

function unwrapped(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (address instanceof ipaddr.IPv4) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  if (address.match(NAT64_PREFIX)) return new ipaddr.IPv4(address.toByteArray().slice(12));
  return address;
}

function isMetadata(address: string): boolean {
  return METADATA_ADDRESSES.has(unwrapped(ipaddr.parse(address)).toNormalizedString());
}
