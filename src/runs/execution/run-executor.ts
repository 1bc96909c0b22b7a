import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { AppError, isStoreUnavailable } from '../../common/app-error.js';
import { Clock } from '../../common/clock.js';
import type { Reason } from '../../common/reasons.js';
import { Config } from '../../config/config.js';
import type { EventOf } from '../../events/harness-event.js';
import { isPicture } from '../../events/parts.js';
import { Logger } from '../../observability/logger.js';
import { AnswersService } from '../../vision/answers.service.js';
import { PicturesService } from '../../vision/pictures.service.js';
import { lifecycleEvent } from '../log/lifecycle-events.js';
import { AgentRuntime } from '../ports/agent-runtime.port.js';
import { EventLog, FencedError } from '../ports/event-log.port.js';
import { traceOf } from '../../harness/trace/trace.js';
import type { Lease } from '../run.js';
import { HeldRuns, RunStopped, type HeldRun } from './held-runs.js';
import { PictureFetcher } from './picture-fetcher.js';
import { ownParts, RunContexts, type RunContext } from './run-context.js';
import { RunEnding } from './run-ending.js';
import { ExecutorInputs } from './executor-inputs.js';
import { isRunReason, runError } from './run-result.js';
import { RunWriter } from './run-writer.js';

/** A longer timer would go off at once: its milliseconds must fit into 31 bits. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Between two tries to let a run go while the database is away, milliseconds. */
const LONGEST_RETRY_MS = 2000;

/** How long an agent may take to stop when the process ends, milliseconds. */
const DRAIN_GRACE_MS = 1000;

/** Executes one leased run: pictures, engine, end. Whatever happens, the run is ended, handed back or left to its new holder. */
@Injectable()
export class RunExecutor {
  private isDraining = false;

  constructor(
    private readonly contexts: RunContexts,
    private readonly runtime: AgentRuntime,
    private readonly log: EventLog,
    private readonly held: HeldRuns,
    private readonly ending: RunEnding,
    private readonly fetcher: PictureFetcher,
    private readonly pictures: PicturesService,
    private readonly answers: AnswersService,
    private readonly clock: Clock,
    private readonly config: Config,
    private readonly logger: Logger,
  ) {}

  /** From now on runs are handed back at their next safe point. */
  drain(): void {
    this.isDraining = true;
  }

  /** Resolves when the run is out of our hands; never rejects. */
  async execute(lease: Lease): Promise<void> {
    const held = this.held.hold(lease);
    const startedAt = this.clock.nowMs();
    const writer = new RunWriter(this.log, held);
    let limit: NodeJS.Timeout | undefined;
    try {
      if (this.isDraining) held.stop('drain');
      held.signal.throwIfAborted();
      const context = await this.contexts.load(lease.runId);
      held.signal.throwIfAborted();
      const leftMs = Math.max(0, this.config.runs.maxExecMs - context.run.execMs);
      limit = setTimeout(() => held.stop('time_limit'), Math.min(leftMs, LONGEST_TIMER_MS));
      await this.obeying(this.run(context, held, writer, startedAt), held);
    } catch (error) {
      await this.letGo(held, writer, startedAt, held.signal.aborted ? held.signal.reason : error);
    } finally {
      clearTimeout(limit);
      held.release();
    }
  }

  /** An agent that does not obey its signal is left behind: it holds neither its run nor the end of the process. */
  private obeying(work: Promise<void>, { lease, signal }: HeldRun): Promise<void> {
    return new Promise((resolve, reject) => {
      let limit: NodeJS.Timeout | undefined;
      const leave = (): void => {
        const isDrain = signal.reason instanceof RunStopped && signal.reason.reason === 'drain';
        const graceMs = isDrain ? DRAIN_GRACE_MS : this.config.runs.cancelGraceMs;
        limit = setTimeout(() => {
          this.logger.warn('the agent did not obey and was left behind', { runId: lease.runId, graceMs });
          reject(signal.reason as Error);
        }, graceMs);
      };
      signal.addEventListener('abort', leave, { once: true });
      work.then(resolve, reject).finally(() => {
        signal.removeEventListener('abort', leave);
        clearTimeout(limit);
      });
    });
  }

  private async run(context: RunContext, held: HeldRun, writer: RunWriter, startedAt: number): Promise<void> {
    const { run, facts } = context;
    const history = await this.fetcher.withPictures(context, writer, held.signal);
    const trace = traceOf(history, run.id, (image) => this.pictures.load(image));
    const shape = this.answers.shapeOf({
      capabilities: run.capabilities,
      pictureCount: ownParts(context).filter(isPicture).length,
      responseSchema: context.body.responseSchema,
      language: run.language,
    });
    const inputs = new ExecutorInputs(this.ending, held.lease, writer, shape, this.clock, () => ({
      execMs: this.clock.nowMs() - startedAt,
    }));
    const stream = this.runtime.run(
      {
        run: facts,
        attempt: run.attempt,
        timeZone: context.timeZone,
        trace,
        suspension: undefined,
        answerCheck: shape.check,
        answerInstructions: shape.instructions,
        inputs,
      },
      held.signal,
    );
    for await (const event of stream) {
      const isOwn = event.parent === undefined;
      if (isOwn && event.type === 'run_end') break; // `mayEnd` has written it with the terminal event
      if (isOwn && event.type === 'reason_start' && this.isDraining) held.stop('drain');
      held.signal.throwIfAborted();
      await writer.write(event);
    }
    if (!inputs.hasEnded) throw new Error('the agent stopped without an end');
    this.logger.info('run finished', { runId: run.id, attempt: run.attempt, execMs: this.clock.nowMs() - startedAt });
  }

  /** While the database is away it tries again: whoever takes the run next need not wait until the lease ends. */
  private async letGo(held: HeldRun, writer: RunWriter, startedAt: number, error: unknown): Promise<void> {
    const { lease } = held;
    const facts = { execMs: this.clock.nowMs() - startedAt };
    for (;;) {
      try {
        await this.close(lease, facts, error, writer.lastText);
        return;
      } catch (failure) {
        if (failure instanceof FencedError) return;
        if (!isStoreUnavailable(failure) || this.isDraining) {
          this.logger.error('run could not be closed', { runId: lease.runId, error: failure });
          return;
        }
        await sleep(Math.min(failure.retryAfterMs ?? 0, LONGEST_RETRY_MS) * (0.5 + Math.random() / 2));
      }
    }
  }

  private async close(lease: Lease, facts: { execMs: number }, error: unknown, text: string): Promise<void> {
    const { runId } = lease;
    const stop = error instanceof RunStopped ? error.reason : undefined;
    if (error instanceof FencedError || stop === 'fenced') {
      this.logger.warn('run belongs to another worker now', { runId, epoch: lease.epoch });
    } else if (stop === 'cancel') {
      await this.ending.cancel(lease, facts);
      this.logger.info('run cancelled', { runId, ...facts });
    } else if (stop === 'drain' || isStoreUnavailable(error)) {
      await this.ending.handBack(lease, facts);
      this.logger.info('run handed back', { runId, why: stop ?? 'no database', ...facts });
    } else {
      await this.fail(lease, facts, error, text);
    }
  }

  private async fail(lease: Lease, facts: { execMs: number }, error: unknown, text: string): Promise<void> {
    const { code, message, limit } = failureOf(lease.runId, error, this.config.runs.maxExecMs);
    if (code === 'AGENT_ERROR') this.logger.error('run failed', { runId: lease.runId, code, ...facts, error });
    else this.logger.warn('run failed', { runId: lease.runId, code, reason: message, ...facts });
    await this.ending.breakOff(lease, facts, (run): EventOf<'run_failed'> =>
      lifecycleEvent(run, this.clock, 'run_failed', {
        error: runError(code, message, run.stage, text, limit === undefined ? {} : { limit }),
        artifacts: [],
        usage: run.usage,
      }),
    );
  }
}

/** What clients may read of a failure: what runs are known to fail with as it is, everything else without its text. */
function failureOf(
  runId: string,
  error: unknown,
  maxExecMs: number,
): { code: Reason; message: string; limit?: string } {
  if (error instanceof RunStopped) {
    const message = `the run did not end within ${maxExecMs} ms of execution`;
    return { code: 'BUDGET_EXCEEDED', message, limit: 'runs.maxExecMs' };
  }
  if (error instanceof AppError && isRunReason(error.reason)) return { code: error.reason, message: error.message };
  return { code: 'AGENT_ERROR', message: `internal error, run ${runId}` };
}
