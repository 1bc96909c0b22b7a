import type { ServerWritableStream } from '@grpc/grpc-js';
import { Injectable } from '@nestjs/common';
import type { Observable } from 'rxjs';
import type { Principal } from '../../auth/principal.js';
import { Logger } from '../../observability/logger.js';
import { traceIdFrom } from '../../observability/trace-id.js';
import { RunsService } from '../../runs/runs.service.js';
import type { RunStream, SubmitMessage } from '../../runs/runs.types.js';
import { OpenStreams } from '../http/open-streams.js';
import { ACTION_ACCEPTED, receiptFacts } from '../run-payload/receipt-facts.js';
import type { RunEvent } from './generated/harness/v1/event.js';
import { toRunEvent } from './grpc.projection.js';
import { writeStream } from './write-stream.js';

type EventCall = ServerWritableStream<unknown, RunEvent>;

/** Which run, and from where. */
export interface ObserveQuery {
  readonly sessionId: string;
  readonly runId: string;
  /** The id of the last event already seen. */
  readonly after: number;
}

/** The two calls that stream a run. */
@Injectable()
export class RunStreams {
  constructor(
    private readonly runs: RunsService,
    private readonly openStreams: OpenStreams,
    private readonly logger: Logger,
  ) {}

  /** Streams a run up to its end. The caller's leaving changes nothing for the run. */
  observe(call: EventCall, principal: Principal, query: ObserveQuery): Observable<never> {
    const { runs } = this;
    return writeStream(call, {
      reserve: () => this.openStreams.reserve(principal),
      async *open(_gone, signal) {
        yield* eventsOf(await runs.observe(principal, { ...query, stopAtInput: false }), signal);
      },
    });
  }

  /**
   * Submits a message and streams its run, up to its end or to the moment it needs an input, because the next move
   * is the caller's then. When the caller leaves before, the run's `onDisconnect` decides.
   */
  submitAndObserve(call: EventCall, principal: Principal, submit: SubmitMessage): Observable<never> {
    return writeStream(call, {
      reserve: () => this.openStreams.reserve(principal),
      open: (gone, signal) => this.submitted(call, principal, submit, gone, signal),
    });
  }

  private async *submitted(
    call: EventCall,
    principal: Principal,
    submit: SubmitMessage,
    gone: AbortSignal,
    signal: AbortSignal,
  ): AsyncGenerator<RunEvent> {
    const receipt = await this.runs.submit(principal, submit);
    const traceId = traceIdFrom(call.metadata.get('traceparent')[0]);
    this.logger.info(ACTION_ACCEPTED, { traceId, ...receiptFacts(receipt) });
    const { sessionId, runId } = receipt;
    if (runId === null) return;
    try {
      const stream = await this.runs.observe(principal, { sessionId, runId, after: 0, stopAtInput: true });
      yield* eventsOf(stream, signal);
    } finally {
      if (gone.aborted) await this.left(principal, runId);
    }
  }

  private async left(principal: Principal, runId: string): Promise<void> {
    try {
      await this.runs.disconnected(principal, runId);
    } catch (error) {
      // Nobody is there to hear of it.
      this.logger.error('disconnect not handled', { runId, error });
    }
  }
}

async function* eventsOf(stream: RunStream, signal: AbortSignal): AsyncGenerator<RunEvent> {
  for await (const piece of stream.pieces(signal)) {
    for (const event of piece) yield toRunEvent(stream.run.facts, event);
  }
}
