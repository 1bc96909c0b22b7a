import type { Provider } from '@nestjs/common';
import type { Principal } from '../../../src/auth/principal.js';
import { AppError } from '../../../src/common/app-error.js';
import type { LoggedEvent } from '../../../src/events/projection.js';
import { NO_USAGE } from '../../../src/events/values.js';
import { HarnessService } from '../../../src/harness/harness.service.js';
import { RunsService } from '../../../src/runs/runs.service.js';
import type { CancelRun, Receipt, RunStream, RunView, SubmitMessage } from '../../../src/runs/runs.types.js';
import { SessionsService } from '../../../src/sessions/sessions.service.js';
import type { CreateSession, SessionView } from '../../../src/sessions/sessions.types.js';
import { PicturesService } from '../../../src/vision/pictures.service.js';
import type { StoredResource } from '../../../src/vision/pictures.types.js';
import { EXAMPLE_EVENTS, EXAMPLE_RUN } from '../../support/example-run.js';
import { pieced } from '../../support/flat.js';

export const SESSION: SessionView = {
  id: 'S1',
  tenantId: 'default',
  appName: 'vision_agent',
  userId: 'local',
  externalId: 'S1',
  state: {},
  version: 0,
  capabilities: ['vision'],
  clientReference: 'order-1001',
  timeZone: 'Asia/Shanghai',
  createdAt: Date.parse('2026-08-17T09:59:55.000Z'),
  updatedAt: Date.parse('2026-08-17T10:01:13.600Z'),
  status: 'idle',
  activeRunId: null,
  lastRunId: 'R1',
  mergedState: {},
};

export const RUN: RunView = {
  facts: EXAMPLE_RUN,
  kind: 'message',
  status: 'running',
  code: 'CALLING_TOOL',
  stage: 'acting',
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
  createdAt: Date.parse('2026-08-17T10:00:00.000Z'),
  startedAt: Date.parse('2026-08-17T10:00:00.200Z'),
  endedAt: null,
};

const RECEIPT: Receipt = {
  accepted: true,
  sessionId: 'S1',
  runId: 'R1',
  requestId: 'req-1',
  action: 'message',
  mode: 'queue',
  disposition: 'started',
  status: 'queued',
  code: 'RUN_QUEUED',
  stage: 'queued',
  queuePosition: 0,
  cursor: 1,
};

/** One call of a service, without its principal. */
export interface ServiceCall {
  readonly method: string;
  readonly argument: unknown;
}

/** The services behind `/v1`, with the example run as their only content; they note every call. */
export class FakeServices {
  readonly calls: ServiceCall[] = [];
  principal: Principal | undefined;
  receipt: Partial<Receipt> = {};
  replaysSession = false;
  /** Thrown by the next call of the method. */
  failures = new Map<string, AppError>();
  /** The events of a stream; a stream that `stays` is open until its signal aborts. */
  events: readonly LoggedEvent[] = EXAMPLE_EVENTS;
  stays = false;
  breaksAfter: number | undefined;
  uploads = new Map<string, Buffer>();

  private note(method: string, principal: Principal, argument: unknown): void {
    this.calls.push({ method, argument });
    this.principal = principal;
    const failure = this.failures.get(method);
    this.failures.delete(method);
    if (failure) throw failure;
  }

  /** The arguments of the calls of a method. */
  argumentsOf(method: string): unknown[] {
    return this.calls.filter((call) => call.method === method).map((call) => call.argument);
  }

  readonly sessions = {
    create: async (principal: Principal, command: CreateSession) => {
      this.note('create', principal, command);
      return { session: SESSION, replayed: this.replaysSession };
    },
    get: async (principal: Principal, id: string) => {
      this.note('get', principal, id);
      return SESSION;
    },
    list: async (principal: Principal, query: object) => {
      this.note('list', principal, query);
      const { mergedState, ...session } = SESSION;
      return { sessions: [session], nextPageToken: mergedState ? 'next' : null, hasMore: true };
    },
  };

  readonly runs = {
    submit: async (principal: Principal, command: SubmitMessage): Promise<Receipt> => {
      this.note('submit', principal, command);
      return { ...RECEIPT, requestId: command.requestId ?? null, ...this.receipt };
    },
    cancel: async (principal: Principal, command: CancelRun): Promise<Receipt> => {
      this.note('cancel', principal, command);
      const cancelling = { mode: null, status: 'cancelling', disposition: 'cancelling', queuePosition: null } as const;
      return { ...RECEIPT, ...cancelling, action: 'cancel', requestId: command.requestId, ...this.receipt };
    },
    disconnected: async (principal: Principal, runId: string) => this.note('disconnected', principal, runId),
    observe: async (principal: Principal, query: { after: number; stopAtInput: boolean }): Promise<RunStream> => {
      this.note('observe', principal, query);
      return { run: RUN, isOver: query.after >= 26, pieces: (signal) => pieced(this.stream(query, signal)) };
    },
    page: async (principal: Principal, query: { cursor: number; limit: number }, _signal: AbortSignal) => {
      this.note('page', principal, query);
      const events = EXAMPLE_EVENTS.slice(query.cursor, query.cursor + query.limit);
      const nextCursor = events.at(-1)?.seq ?? query.cursor;
      return { run: RUN, events, nextCursor, hasMore: nextCursor < 26 };
    },
    snapshot: async (principal: Principal, sessionId: string, query: { events: boolean }) => {
      this.note('snapshot', principal, { sessionId, ...query });
      const record = { run: RUN, requests: [], responses: [], events: query.events ? EXAMPLE_EVENTS : [] };
      return { session: SESSION, lastRunId: 'R1', lastStatus: 'running', runs: [record], hasMoreRuns: false };
    },
    closeSession: async (principal: Principal, sessionId: string) => this.note('closeSession', principal, sessionId),
  };

  readonly pictures = {
    upload: async (_session: object, resourceId: string, bytes: Uint8Array) => {
      this.calls.push({ method: 'upload', argument: { resourceId, bytes: bytes.length } });
      const known = this.uploads.get(resourceId);
      if (known && !known.equals(bytes)) throw new AppError('RESOURCE_CONFLICT', `resource ${resourceId} differs`);
      this.uploads.set(resourceId, Buffer.from(bytes));
      const picture = { sha256: 'ab', mimeType: 'image/png', width: 3, height: 2, bytes: bytes.length } as const;
      const resource: StoredResource = { resourceId, kind: 'upload', sourceUrl: null, picture, createdAt: 0 };
      return { resource, created: known === undefined };
    },
  };

  readonly harness = {
    agentsFor: () => [
      {
        agent: { name: 'vision_agent', description: 'Looks.', capabilities: ['vision', 'image_generation'] },
        tools: [],
      },
      { agent: { name: 'harness_agent', description: 'Helps.', capabilities: [] }, tools: [] },
    ],
    modelOf: () => 'offline',
  };

  get providers(): Provider[] {
    return [
      { provide: SessionsService, useValue: this.sessions },
      { provide: RunsService, useValue: this.runs },
      { provide: PicturesService, useValue: this.pictures },
      { provide: HarnessService, useValue: this.harness },
    ];
  }

  private async *stream(
    query: { after: number; stopAtInput: boolean },
    signal: AbortSignal,
  ): AsyncGenerator<LoggedEvent> {
    for (const event of this.events.filter(({ seq }) => seq > query.after)) {
      if (event.seq === this.breaksAfter) throw new Error('the store went away');
      yield event;
      if (query.stopAtInput && event.type === 'input_required') return;
    }
    if (!this.stays) return;
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve());
    });
  }
}
