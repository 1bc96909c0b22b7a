import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { isStoreUnavailable } from '../../common/app-error.js';
import { Config } from '../../config/config.js';
import { Logger } from '../../observability/logger.js';
import type { RunStream } from '../../runs/runs.types.js';
import { OpenStreams, type StreamPlace } from '../http/open-streams.js';
import { SseStream } from '../http/sse-stream.js';
import { RETRY_BLOCK, sseProjection, type Encoding } from './sse-frames.js';

export interface RunStreamOptions {
  readonly encoding: Encoding;
  /** Reserved before anything was changed; given back when the stream is over. */
  readonly place: StreamPlace;
  readonly headers?: Readonly<Record<string, string>>;
  /** True for a stream that a browser reconnects by itself. */
  readonly announcesRetry?: boolean;
}

/** Writes runs as server-sent events. */
@Injectable()
export class RunStreams {
  constructor(
    private readonly streams: OpenStreams,
    private readonly config: Config,
    private readonly logger: Logger,
  ) {}

  /**
   * Writes the run into the reply until it ends, its reader leaves or the server stops.
   * @returns true when the reader left before the end
   */
  async write(reply: FastifyReply, stream: RunStream, options: RunStreamOptions): Promise<boolean> {
    const sse = SseStream.open(reply, {
      pingMs: this.config.events.pingMs,
      registry: this.streams,
      place: options.place,
      ...(options.headers && { headers: options.headers }),
    });
    try {
      if (options.announcesRetry === true) await sse.send(RETRY_BLOCK);
      await this.writeEvents(sse, stream, options.encoding);
      await sse.end();
    } catch (error) {
      if (isStoreUnavailable(error)) {
        // It ends after its last committed event, as when the server stops: the reader asks again from its cursor.
        await sse.end();
        return sse.isClientGone;
      }
      // Only a broken connection tells the reader that more is to come; its cursor is still right.
      sse.breakOff();
      this.logger.error('stream broke', { runId: stream.run.facts.runId, traceId: reply.request.id, error });
    }
    return sse.isClientGone;
  }

  private async writeEvents(sse: SseStream, stream: RunStream, encoding: Encoding): Promise<void> {
    const projection = sseProjection(encoding);
    let state = projection.initial(stream.run.facts);
    for await (const piece of stream.pieces(sse.signal)) {
      const frames: string[] = [];
      for (const event of piece) {
        const next = projection.step(state, event);
        state = next.state;
        frames.push(...next.wires);
      }
      await sse.sendAll(frames);
    }
  }
}
