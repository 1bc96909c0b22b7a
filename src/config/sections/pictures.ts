import { z } from 'zod';
import { bytes, count, list, millis } from '../leaf.js';

/** `host`, `host:port`, `[v6]` or `[v6]:port`, without scheme and path. */
const isHost = (entry: string): boolean =>
  /^(\[[0-9a-fA-F:.]+\]|[^\s/:@]+|[0-9a-fA-F]*:[0-9a-fA-F:.]+)(:\d{1,5})?$/.test(entry);

const hosts = () => list('a list of `host` or `host:port`', isHost);

export const fetch = z.strictObject({
  allowHosts: hosts(),
  allowPrivateHosts: hosts(),
  timeoutMs: millis(),
  maxBytes: bytes(),
});

export const vision = z.strictObject({
  maxImageBytes: bytes(1024),
  maxPixels: count('pixels', 1),
  maxImagesPerMessage: count('pictures', 1, 1000),
  modelMaxEdge: count('pixels', 16, 16_384),
});
