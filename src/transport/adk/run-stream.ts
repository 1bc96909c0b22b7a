import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AppError } from '../../common/app-error.js';
import { Config } from '../../config/config.js';
import { isTerminal } from '../../events/harness-event.js';
import type { LoggedEvent } from '../../events/projection.js';
import { Logger } from '../../observability/logger.js';
import type { RunStream } from '../../runs/runs.types.js';
import { OpenStreams, type StreamPlace } from '../http/open-streams.js';
import { SseStream } from '../http/sse-stream.js';
import { errorFrame, toFrame } from './adk-frames.js';
import { AdkProjection } from './adk.projection.js';

/** True wherever the run stands: with the process that comes next, with another one, or just ended. */
const STOPPING = 'the server is stopping; the run goes on and its session will show the rest';
const HEADERS = { 'cache-control': 'no-cache, no-transform' } as const;

/** Writes runs as the frames of `/run_sse`. */
@Injectable()
export class AdkRunStream {
  constructor(
    private readonly registry: OpenStreams,
    private readonly config: Config,
    private readonly logger: Logger,
  ) {}

  /**
   * Writes the run until it ends or waits for a human, its reader leaves or the server stops; a stop is told by an
   * error frame, because a body that just ends looks like a run that has ended.
   * @param place reserved before anything was changed; given back when the stream is over
   * @returns true when the reader left before the end
   */
  async write(reply: FastifyReply, run: RunStream, streaming: boolean, place: StreamPlace): Promise<boolean> {
    const sse = this.open(reply, place);
    try {
      const isWhole = await this.writeEvents(sse, run, new AdkProjection({ view: 'stream', streaming }));
      await sse.end(isWhole ? undefined : errorFrame(STOPPING));
    } catch (error) {
      const { runId } = run.run.facts;
      this.logger.error('stream broke', { runId, traceId: reply.request.id, error });
      await sse.end(errorFrame(AppError.from(error, `internal error, run ${runId}`).message));
    }
    return sse.isClientGone;
  }

  /** A stream that only says why nothing was started. */
  async refuse(reply: FastifyReply, message: string, place: StreamPlace): Promise<void> {
    const sse = this.open(reply, place);
    await sse.end(errorFrame(message));
  }

  private open(reply: FastifyReply, place: StreamPlace): SseStream {
    const { pingMs } = this.config.events;
    return SseStream.open(reply, { headers: HEADERS, pingMs, registry: this.registry, place });
  }

  /** @returns false when the stream was cut short: its reader left, or the server stops */
  private async writeEvents(sse: SseStream, run: RunStream, projection: AdkProjection): Promise<boolean> {
    let state = projection.initial(run.run.facts);
    for await (const piece of run.pieces(sse.signal)) {
      for (const event of piece) {
        const next = projection.step(state, event);
        state = next.state;
        for (const wire of next.wires) {
          if (sse.signal.aborted) return false;
          await sse.send(toFrame(wire));
        }
        if (isLast(event)) return true;
      }
    }
    return !sse.signal.aborted;
  }
}

/** After it the stream has nothing more to say. */
const isLast = (event: LoggedEvent): boolean => isTerminal(event) || event.type === 'input_required';
