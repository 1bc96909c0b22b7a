import { isIP } from 'node:net';
import { z } from 'zod';
import { bytes, count, isBaseUrl, leaf, list, millis, oneOf, optionalText, port, text } from '../leaf.js';

export const server = z.strictObject({
  host: text('a host name or an IP address', (host) => isIP(host) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]*)$/.test(host)),
  httpPort: port(),
  grpcPort: port(),
  role: oneOf(['all', 'api', 'worker']),
  publicUrl: optionalText('an http or https URL', { fits: isBaseUrl }),
  shutdownMs: millis(0),
});

const ADDRESS_NAMES: ReadonlySet<string> = new Set(['loopback', 'linklocal', 'uniquelocal']);

/** An address, a CIDR block, or a name for one that Fastify knows. */
function isAddressBlock(entry: string): boolean {
  if (ADDRESS_NAMES.has(entry)) return true;
  const [address = '', prefix, ...rest] = entry.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
}

function trustFromText(value: string): unknown {
  if (value === 'true' || value === 'false') return value === 'true';
  return /^\d{1,3}$/.test(value) ? Number(value) : value.split(',').map((entry) => entry.trim());
}

/** `scheme://host[:port]`, `*`, or `regex:` and an expression. */
function isOrigin(entry: string): boolean {
  if (entry === '*') return true;
  if (entry.startsWith('regex:')) return isExpression(entry.slice('regex:'.length));
  return URL.canParse(entry) && new URL(entry).origin === entry;
}

function isExpression(source: string): boolean {
  try {
    return new RegExp(source).source !== '(?:)';
  } catch {
    return false;
  }
}

export const http = z.strictObject({
  maxBodyBytes: bytes(1024),
  bodyTimeoutMs: millis(),
  maxJsonDepth: count('levels', 1, 1000),
  maxJsonKeys: count('keys', 1),
  trustProxy: leaf(z.union([z.boolean(), z.int().min(0).max(255), z.array(z.string().refine(isAddressBlock)).min(1)]), {
    accepts: 'true, false, a hop count or a list of addresses',
    fromText: trustFromText,
  }),
  allowOrigins: list('a list of origins such as https://app.example.com, `*` or `regex:…`', isOrigin),
});

export const grpc = z.strictObject({ maxReceiveBytes: bytes(1024) });
