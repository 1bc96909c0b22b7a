import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import type { Principal } from '../../src/auth/principal.js';
import { Clock, SystemClock } from '../../src/common/clock.js';
import { UuidIds } from '../../src/common/ids.js';
import { Database } from '../../src/database/database.js';
import type { LoggedEvent } from '../../src/events/projection.js';
import { AgentCatalog } from '../../src/harness/agent-catalog.js';
import { CatalogDirectory } from '../../src/harness/catalog-directory.js';
import { Metrics } from '../../src/observability/metrics.js';
import { OutgoingFetch } from '../../src/outgoing/guarded-fetch.js';
import { DatabaseEventLog } from '../../src/runs/adapters/database-event-log.js';
import { InProcessHints } from '../../src/runs/adapters/in-process-hints.js';
import { InProcessRenewal } from '../../src/runs/adapters/in-process-renewal.js';
import { PollingDispatcher } from '../../src/runs/adapters/polling-dispatcher.js';
import { CancelRunCommand } from '../../src/runs/commands/cancel-run.js';
import { CloseSessionCommand } from '../../src/runs/commands/close-session.js';
import { ImportEventsCommand } from '../../src/runs/commands/import-events.js';
import { SubmitMessageCommand } from '../../src/runs/commands/submit-message.js';
import { FlagPoll } from '../../src/runs/execution/flag-poll.js';
import { HeldRuns } from '../../src/runs/execution/held-runs.js';
import { PictureFetcher } from '../../src/runs/execution/picture-fetcher.js';
import { RunContexts } from '../../src/runs/execution/run-context.js';
import { RunEnding } from '../../src/runs/execution/run-ending.js';
import { RunExecutor } from '../../src/runs/execution/run-executor.js';
import { GroupCommitter } from '../../src/runs/log/group-committer.js';
import { lifecycleEvent } from '../../src/runs/log/lifecycle-events.js';
import type { AgentRuntime } from '../../src/runs/ports/agent-runtime.port.js';
import type { EventLog } from '../../src/runs/ports/event-log.port.js';
import type { RunHints } from '../../src/runs/ports/run-hints.port.js';
import { Reaper } from '../../src/runs/queue/reaper.js';
import { RunClaims } from '../../src/runs/queue/run-claims.js';
import { RunWorker } from '../../src/runs/queue/run-worker.js';
import { Takeover } from '../../src/runs/queue/takeover.js';
import { AuditReader } from '../../src/runs/reading/audit-reader.js';
import { RunFeeds } from '../../src/runs/reading/run-feeds.js';
import { SessionHistories } from '../../src/runs/reading/session-histories.js';
import { RunReader } from '../../src/runs/reading/run-reader.js';
import { runOf, type Lease, type Run } from '../../src/runs/run.js';
import { RunsService } from '../../src/runs/runs.service.js';
import type { Receipt, SubmitMessage } from '../../src/runs/runs.types.js';
import { SessionReader } from '../../src/sessions/session-reader.js';
import { SessionsService } from '../../src/sessions/sessions.service.js';
import { FileBlobStore } from '../../src/storage/blob-store.file.js';
import { AnswersService } from '../../src/vision/answers.service.js';
import { BlobKeeper } from '../../src/vision/blob-keeper.js';
import { ImageIntake } from '../../src/vision/image-intake.js';
import { ModelPictures } from '../../src/vision/model-pictures.js';
import { PicturesService } from '../../src/vision/pictures.service.js';
import { UrlSeal } from '../../src/vision/url-seal.js';
import { databasesUnderTest, type TestDatabase } from './databases.js';
import { EngineEvents, FakeRuntime } from './fake-runtime.js';
import { CollectingLogger } from './http-app.js';
import { aConfig } from './test-config.js';

export const ALICE: Principal = { tenantId: 't1', subject: 'alice', scopes: new Set(), mode: 'key' };

/** A database on which the suites of the core run. */
export interface StoreUnderTest {
  readonly name: string;
  readonly create: () => Promise<TestDatabase>;
}

/** SQLite as a file and in memory, MySQL or MariaDB when a server is named. */
export function storesUnderTest(): readonly StoreUnderTest[] {
  const memory = {
    name: 'sqlite in memory',
    create: async () => ({ url: 'sqlite::memory:', drop: async () => undefined }),
  };
  return [...databasesUnderTest(), memory];
}

export type CommitterFactory = (...parts: ConstructorParameters<typeof GroupCommitter>) => GroupCommitter;

export interface CoreOptions {
  /** Configuration variables, e.g. `BRIDLE_RUNS_LEASE_MS`. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  readonly runtime?: AgentRuntime;
  readonly hints?: RunHints;
  /** Makes what writes the log. */
  readonly committer?: CommitterFactory;
  /** Lays something over the log of the database. */
  readonly log?: (log: EventLog) => EventLog;
}

/** The core of one process, composed as the modules do, without doors. Two of them on one database are two replicas. */
export type Core = Awaited<ReturnType<typeof aCore>>;

/** Timers of a core under test stand still unless a test wants them. */
const QUIET = {
  BRIDLE_EVENTS_POLL_MS: '3600000',
  BRIDLE_RUNS_REAPER_MS: '3600000',
  BRIDLE_RUNS_FLAG_POLL_MS: '3600000',
  BRIDLE_STORAGE_DIR: '',
};

const newCommitter: CommitterFactory = (...parts) => new GroupCommitter(...parts);

/** Composes the core on an open database. */
export async function aCore(database: Database, options: CoreOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'bridle-core-'));
  const config = aConfig({ ...QUIET, BRIDLE_STORAGE_DIR: folder, ...options.variables });
  const clock = options.clock ?? new SystemClock();
  const ids = new UuidIds();
  const logger = new CollectingLogger();
  const metrics = new Metrics();
  const hints = options.hints ?? new InProcessHints();
  const dispatcher = new PollingDispatcher(config);
  const runtime = options.runtime ?? new FakeRuntime();
  const committer = (options.committer ?? newCommitter)(database, hints, metrics, config);
  const databaseLog = new DatabaseEventLog(database, committer);
  const log = options.log?.(databaseLog) ?? databaseLog;

  const blobs = new FileBlobStore(folder);
  const pictures = new PicturesService(
    database,
    config,
    clock,
    new OutgoingFetch(config.fetch),
    new ImageIntake(config.vision),
    new BlobKeeper(database, blobs),
    new ModelPictures(blobs, config.vision.modelMaxEdge),
    await UrlSeal.open(folder),
  );
  const answers = new AnswersService();

  const takeover = new Takeover(database, clock, config);
  const ending = new RunEnding(database, log, hints, dispatcher, takeover, clock, metrics);
  const claims = new RunClaims(database, hints, clock, config, ids);
  const renewal = new InProcessRenewal(database, config, logger, claims.owner);
  const held = new HeldRuns(hints, renewal);
  const flags = new FlagPoll(database, held, config, logger);
  const contexts = new RunContexts(database, new SessionHistories(database), config);
  const fetcher = new PictureFetcher(pictures, clock);
  const executor = new RunExecutor(
    contexts,
    runtime,
    log,
    held,
    ending,
    fetcher,
    pictures,
    answers,
    clock,
    config,
    logger,
  );
  const reaper = new Reaper(database, held, takeover, hints, dispatcher, clock, config, logger);
  const worker = new RunWorker(claims, executor, held, renewal, flags, reaper, dispatcher, config, logger);

  const sessionReader = new SessionReader(database);
  const directory = new CatalogDirectory(new AgentCatalog(config));
  const sessions = new SessionsService(database, sessionReader, directory, config, clock, ids);
  const reader = new RunReader(database, config);
  const audit = new AuditReader(database, log, pictures);
  const feeds = new RunFeeds(hints, log, database, logger, config);
  const submits = new SubmitMessageCommand(
    database,
    pictures,
    answers,
    claims,
    worker,
    hints,
    dispatcher,
    config,
    clock,
    ids,
  );
  const cancels = new CancelRunCommand(database, hints, dispatcher, clock);
  const closing = new CloseSessionCommand(database, cancels, pictures, config, logger);
  const imports = new ImportEventsCommand(database, clock, ids);
  const runs = new RunsService(submits, cancels, imports, closing, reader, audit, sessionReader, feeds, config);

  return {
    database,
    config,
    clock,
    logger,
    metrics,
    hints,
    dispatcher,
    runtime,
    log,
    takeover,
    ending,
    held,
    renewal,
    flags,
    contexts,
    executor,
    claims,
    reaper,
    worker,
    sessions,
    feeds,
    closing,
    pictures,
    runs,
    /** Stops what ticks; the database stays open. */
    stop: async (): Promise<void> => {
      await worker.stop(0);
      feeds.onApplicationShutdown();
      closing.onApplicationShutdown();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What a suite on one database works with. */
export interface CoreSuite {
  /** A fresh one for each test. */
  readonly core: Core;
  readonly database: Database;
  /** One more core on the same database; it ends with the test. */
  another(options?: CoreOptions): Promise<Core>;
}

const TABLES = ['run_events', 'run_inputs', 'requests', 'resources', 'runs', 'sessions', 'app_states', 'user_states'];

/** One database for all tests of a `describe`, emptied before each, and a core on it. */
export function useCore(store: StoreUnderTest, options: () => CoreOptions = () => ({})): CoreSuite {
  let place: TestDatabase;
  let database: Database;
  let cores: Core[] = [];

  beforeAll(async () => {
    place = await store.create();
    const location = { url: place.url, synchronous: 'normal', poolSize: 8 } as const;
    database = await Database.open(location, options().clock ?? new SystemClock());
  });

  beforeEach(async () => {
    await database.inTransaction(async (manager) => {
      for (const table of TABLES) await manager.query(`DELETE FROM ${table}`);
    });
    cores = [await aCore(database, options())];
  });

  afterEach(async () => {
    for (const core of cores) await core.stop();
  });

  afterAll(async () => {
    await database.close();
    await place.drop();
  });

  return {
    get core() {
      return cores[0]!;
    },
    get database() {
      return database;
    },
    another: async (more) => {
      const core = await aCore(database, more ?? options());
      cores.push(core);
      return core;
    },
  };
}

let counter = 0;

/** A message by the door of `/v1`, with a request id of its own. */
export function aMessage(sessionId: string, changes: Partial<SubmitMessage> = {}): SubmitMessage {
  counter += 1;
  return {
    door: 'v1',
    sessionId,
    requestId: `request-${counter}`,
    parts: [{ kind: 'text', text: 'hi' }],
    attached: false,
    ...changes,
  };
}

/** A new session of the general agent. */
export async function aSession(core: Core, principal: Principal = ALICE): Promise<string> {
  return (await core.sessions.create(principal, { agent: 'harness_agent' })).session.id;
}

/** Submits a message and gives the id of its run. */
export async function submitted(core: Core, sessionId: string, changes: Partial<SubmitMessage> = {}): Promise<string> {
  return runIdOf(await core.runs.submit(ALICE, aMessage(sessionId, changes)));
}

export function runIdOf(receipt: Receipt): string {
  if (receipt.runId === null) throw new Error('the receipt names no run');
  return receipt.runId;
}

/** Ends a leased run well, as its executor would. */
export async function finish(core: Core, lease: Lease, text = ''): Promise<void> {
  const row = await runRow(core.database, lease.runId);
  const end = new EngineEvents({ runId: row.id, sessionId: row.sessionId }).end(text);
  await core.ending.finish(lease, { execMs: 1 }, (run) => [
    end,
    lifecycleEvent(run, core.clock, 'run_completed', {
      result: { type: 'text', data: { text } },
      artifacts: [],
      usage: run.usage,
    }),
  ]);
}

/** A row of `runs` with what the product itself never reads back. */
export type RunRow = Run & { readonly activeSessionId: string | null; readonly terminalSeq: number | null };

/** The row of a run. */
export async function runRow(database: Database, runId: string): Promise<RunRow> {
  const rows = await database.query<Record<string, unknown>>('SELECT * FROM runs WHERE id = ?', [runId]);
  if (rows[0] === undefined) throw new Error(`there is no run ${runId}`);
  return runRowOf(rows[0]);
}

export function runRowOf(row: Record<string, unknown>): RunRow {
  return {
    ...runOf(row),
    activeSessionId: row['active_session_id'] as string | null,
    terminalSeq: row['terminal_seq'] === null ? null : Number(row['terminal_seq']),
  };
}

/** The whole log of a run. */
export async function logOf(core: Core, runId: string): Promise<readonly LoggedEvent[]> {
  return core.log.read(runId, 0, 100_000);
}

export const typesIn = (events: readonly LoggedEvent[]): readonly string[] => events.map((event) => event.type);

/** Waits until the condition holds; fails after ten seconds. */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadlineMs = Date.now() + 10_000;
  for (;;) {
    if (await condition()) return;
    if (Date.now() > deadlineMs) throw new Error(`waited in vain: ${what}`);
    await sleep(2);
  }
}

/** Lets everything that is due in this process happen. */
export async function turns(count = 20): Promise<void> {
  for (let left = count; left > 0; left -= 1) await turn();
}
