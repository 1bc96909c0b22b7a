import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AppError } from '../../common/app-error.js';
import { Config } from '../../config/config.js';
import { Logger } from '../../observability/logger.js';
import type { RunStream } from '../../runs/runs.types.js';
import { OpenStreams, type StreamPlace } from '../http/open-streams.js';
import { SseStream } from '../http/sse-stream.js';
import { errorFrame, toFrame } from './adk-frames.js';
import { AdkProjection } from './adk.projection.js';

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
   * Writes the run until it ends or waits for a human, its reader leaves or the server stops.
   * @param place reserved before anything was changed; given back when the stream is over
   * @returns true when the reader left before the end
   */
  async write(reply: FastifyReply, run: RunStream, streaming: boolean, place: StreamPlace): Promise<boolean> {
    const sse = this.open(reply, place);
    try {
      await this.writeEvents(sse, run, new AdkProjection({ view: 'stream', streaming }));
    } catch (error) {
      const { runId } = run.run.facts;
      this.logger.error('stream broke', { runId, traceId: reply.request.id, error });
      await sse.send(errorFrame(AppError.from(error, `internal error, run ${runId}`).message));
    }
    // A stream that the server's stop cut short must not look like a run that ended.
    if (sse.signal.aborted) sse.breakOff();
    else await sse.end();
    return sse.isClientGone;
  }

  /** A stream that only says why nothing was started. */
  async refuse(reply: FastifyReply, message: string, place: StreamPlace): Promise<void> {
    const sse = this.open(reply, place);
    await sse.send(errorFrame(message));
    await sse.end();
  }

  private open(reply: FastifyReply, place: StreamPlace): SseStream {
    const { pingMs } = this.config.events;
    return SseStream.open(reply, { headers: HEADERS, pingMs, registry: this.registry, place });
  }

  private async writeEvents(sse: SseStream, run: RunStream, projection: AdkProjection): Promise<void> {
    let state = projection.initial(run.run.facts);
    for await (const event of run.events(sse.signal)) {
      const next = projection.step(state, event);
      state = next.state;
      for (const wire of next.wires) await sse.send(toFrame(wire));
    }
  }
}
