import { isIPv4 } from 'node:net';

/** True when only this machine can reach a listener on the host. */
export function isLoopbackHost(host: string): boolean {
  if (isIPv4(host)) return host.startsWith('127.');
  return ['localhost', '::1', '0:0:0:0:0:0:0:1'].includes(host.toLowerCase()) || /^::ffff:127\./i.test(host);
}
