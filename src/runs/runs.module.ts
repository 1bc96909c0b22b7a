import { Global, Module, type OnModuleDestroy } from '@nestjs/common';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import { Logger } from '../observability/logger.js';
import { DatabaseEventLog } from './adapters/database-event-log.js';
import { EngineRuntime } from './adapters/engine-runtime.js';
import { InProcessHints } from './adapters/in-process-hints.js';
import { InProcessRenewal } from './adapters/in-process-renewal.js';
import { PollingDispatcher } from './adapters/polling-dispatcher.js';
import { ThreadRenewal } from './adapters/thread-renewal.js';
import { CancelRunCommand } from './commands/cancel-run.js';
import { CloseSessionCommand } from './commands/close-session.js';
import { ImportEventsCommand } from './commands/import-events.js';
import { SubmitMessageCommand } from './commands/submit-message.js';
import { FlagPoll } from './execution/flag-poll.js';
import { HeldRuns } from './execution/held-runs.js';
import { PictureFetcher } from './execution/picture-fetcher.js';
import { RunContexts } from './execution/run-context.js';
import { RunEnding } from './execution/run-ending.js';
import { RunExecutor } from './execution/run-executor.js';
import { GroupCommitter } from './log/group-committer.js';
import { AgentRuntime } from './ports/agent-runtime.port.js';
import { EventLog } from './ports/event-log.port.js';
import { LeaseRenewal } from './ports/lease-renewal.port.js';
import { RunDispatcher } from './ports/run-dispatcher.port.js';
import { RunHints } from './ports/run-hints.port.js';
import { Reaper } from './queue/reaper.js';
import { Retention } from './queue/retention.js';
import { RunClaims } from './queue/run-claims.js';
import { RunWorker } from './queue/run-worker.js';
import { Takeover } from './queue/takeover.js';
import { AuditReader } from './reading/audit-reader.js';
import { RunFeeds } from './reading/run-feeds.js';
import { RunMetrics } from './reading/run-metrics.js';
import { RunReader } from './reading/run-reader.js';
import { SessionHistories } from './reading/session-histories.js';
import { RunsService } from './runs.service.js';

/** Where other processes may take a run, its lease is renewed whatever our event loop does. */
function renewalFor(config: Config, database: Database, logger: Logger, claims: RunClaims): LeaseRenewal {
  const { leaseMs, heartbeatMs, maxExecMs: silenceMs } = config.runs;
  if (database.kind === 'sqlite') return new InProcessRenewal(database, config, logger, claims.owner);
  return new ThreadRenewal({ url: config.database.url, owner: claims.owner, leaseMs, heartbeatMs, silenceMs }, logger);
}

/** The life of runs: commands, log, queue, execution, reading. */
@Global()
@Module({
  providers: [
    { provide: RunHints, useClass: InProcessHints },
    GroupCommitter,
    { provide: EventLog, useClass: DatabaseEventLog },
    { provide: RunDispatcher, useClass: PollingDispatcher },
    { provide: AgentRuntime, useClass: EngineRuntime },
    SubmitMessageCommand,
    CancelRunCommand,
    ImportEventsCommand,
    CloseSessionCommand,
    RunContexts,
    SessionHistories,
    RunEnding,
    PictureFetcher,
    RunExecutor,
    HeldRuns,
    { provide: LeaseRenewal, useFactory: renewalFor, inject: [Config, Database, Logger, RunClaims] },
    FlagPoll,
    RunClaims,
    Takeover,
    Reaper,
    Retention,
    RunWorker,
    RunReader,
    AuditReader,
    RunFeeds,
    RunMetrics,
    RunsService,
  ],
  exports: [RunsService, RunWorker],
})
export class RunsModule implements OnModuleDestroy {
  constructor(
    private readonly worker: RunWorker,
    private readonly closing: CloseSessionCommand,
    private readonly retention: Retention,
    private readonly config: Config,
  ) {}

  /**
   * Takes over what a dead process left, then claims. Called once the doors listen: a process that cannot listen
   * ends, and must not take runs with it.
   */
  async startWork(): Promise<void> {
    if (this.config.server.role === 'api') return;
    this.closing.start();
    this.retention.start();
    await this.worker.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.worker.stop(this.config.server.shutdownMs);
    this.retention.stop();
  }
}
