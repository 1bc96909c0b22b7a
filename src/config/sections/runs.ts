import { z } from 'zod';
import { bytes, count, flag, millis, oneOf, text } from '../leaf.js';

/** What an agent file may be called; its name is also the app name of its sessions. */
export const AGENT_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,127}$/;

export const runs = z.strictObject({
  defaultAgent: text('the name of an agent', (name) => AGENT_NAME.test(name)),
  leaseMs: millis(1000),
  heartbeatMs: millis(100),
  reaperMs: millis(100),
  flagPollMs: millis(50),
  maxAttempts: count('attempts', 1, 100),
  workerConcurrency: count('runs', 1, 100_000),
  cancelGraceMs: millis(0),
  maxExecMs: count('milliseconds', 1000),
  ttlMs: count('milliseconds', 1000),
  maxQueuedPerSession: count('runs', 1),
  maxQueuedPerTenant: count('runs', 1),
});

const afterDisconnect = () => oneOf(['cancel', 'continue']);

export const onDisconnect = z.strictObject({ adk: afterDisconnect(), v1: afterDisconnect(), grpc: afterDisconnect() });

export const profile = z.strictObject({ adk: oneOf(['native'], ['parity']) });

export const events = z.strictObject({
  coalesce: flag(),
  deltaMaxBytes: bytes(16),
  pingMs: millis(100),
  pollMs: millis(10),
  deltaDays: count('days', 0, 36_500),
  retentionDays: count('days', 1, 36_500),
});

export const observers = z.strictObject({
  maxPerProcess: count('streams', 1),
  maxPerPrincipal: count('streams', 1),
  maxQueuedEvents: count('events', 1),
  maxQueuedBytes: bytes(1024),
});
