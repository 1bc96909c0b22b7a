import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Config } from '../../src/config/config.js';
import type { LoggedEvent } from '../../src/events/projection.js';
import { NO_USAGE } from '../../src/events/values.js';
import type { RunsService } from '../../src/runs/runs.service.js';
import type { Receipt, RunStream, RunView } from '../../src/runs/runs.types.js';
import type { SessionsService } from '../../src/sessions/sessions.service.js';
import type { SessionView } from '../../src/sessions/sessions.types.js';
import { Action } from '../../src/transport/grpc/generated/harness/v1/action.js';
import { EXAMPLE_EVENTS, EXAMPLE_RUN } from './example-run.js';
import { aConfig } from './test-config.js';
import { pieced } from './flat.js';

/** The key of tenant `acme`, user `ann`. */
export const KEY = 'a-key-for-tests';
export const MAX_RECEIVE_BYTES = 64 * 1024;

/** A free port, one key, a small limit. */
export function grpcConfig(more: Readonly<Record<string, string>> = {}): Config {
  const sha256 = createHash('sha256').update(KEY).digest('hex');
  return aConfig({
    BRIDLE_SERVER_GRPC_PORT: '0',
    BRIDLE_GRPC_MAX_RECEIVE_BYTES: String(MAX_RECEIVE_BYTES),
    BRIDLE_AUTH_MODE: 'key',
    BRIDLE_AUTH_KEYS: `test:${sha256}:acme:ann`,
    ...more,
  });
}

/** Services of which a test fills in what it needs. */
export interface FakeServices {
  readonly sessions: { -readonly [K in keyof SessionsService]?: SessionsService[K] };
  readonly runs: { -readonly [K in keyof RunsService]?: RunsService[K] };
}

export const SESSION: SessionView = {
  id: 'S1',
  tenantId: 'acme',
  appName: 'vision_agent',
  userId: 'ann',
  externalId: 'S1',
  state: { n: 1 },
  mergedState: { n: 1, gone: null },
  version: 1,
  capabilities: ['vision'],
  clientReference: '',
  timeZone: null,
  createdAt: Date.UTC(2026, 7, 17, 10),
  updatedAt: Date.UTC(2026, 7, 17, 10),
  status: 'idle',
  activeRunId: null,
  lastRunId: null,
};

export const RUN: RunView = {
  facts: EXAMPLE_RUN,
  kind: 'message',
  status: 'running',
  code: 'CALLING_MODEL',
  stage: 'reasoning',
  inputRequired: null,
  result: null,
  error: null,
  artifacts: [],
  usage: NO_USAGE,
  attempt: 1,
  mode: 'queue',
  queuePosition: null,
  lastSeq: 26,
  oldestCursor: 0,
  createdAt: Date.UTC(2026, 7, 17, 10),
  startedAt: null,
  endedAt: null,
};

export const RECEIPT: Receipt = {
  accepted: true,
  sessionId: 'S1',
  runId: 'R1',
  requestId: 'r1',
  action: 'message',
  mode: 'queue',
  disposition: 'started',
  status: 'queued',
  code: 'RUN_QUEUED',
  stage: 'queued',
  queuePosition: 0,
  cursor: 1,
};

export const OBSERVE = { session_id: 'S1', run_id: 'R1', after_seq: undefined };
export const SAY = Action.fromPartial({
  session_id: 'S1',
  request_id: 'r1',
  action: { $case: 'message', value: { text: 'hi' } },
});

/** A stream of the example's events, or of any others. */
export function aStream(events: (signal: AbortSignal) => AsyncIterable<LoggedEvent> = fromStart(0)): RunStream {
  return { run: RUN, isOver: false, pieces: (signal) => pieced(events(signal)) };
}

export function fromStart(after: number): () => AsyncIterable<LoggedEvent> {
  return async function* () {
    yield* EXAMPLE_EVENTS.slice(after);
  };
}

/** The first events, then silence until the signal aborts. */
export async function* thenSilence(signal: AbortSignal): AsyncGenerator<LoggedEvent> {
  yield* EXAMPLE_EVENTS.slice(0, 2);
  if (!signal.aborted) await once(signal, 'abort');
}
