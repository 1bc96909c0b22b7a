import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import type { EventFields } from '../../events/harness-event.js';
import { isPicture } from '../../events/parts.js';
import type { LoggedEvent } from '../../events/projection.js';
import type { EngineEvent } from '../../events/harness-event.js';
import { PicturesService } from '../../vision/pictures.service.js';
import { lifecycleEvent } from '../log/lifecycle-events.js';
import { ownParts, unfetched, type RunContext } from './run-context.js';
import type { RunWriter } from './run-writer.js';

/** Fetches a run's pictures before the model is asked, and says so in its log. */
@Injectable()
export class PictureFetcher {
  constructor(
    private readonly pictures: PicturesService,
    private readonly clock: Clock,
  ) {}

  /**
   * Fetches what is not fetched yet.
   * @returns the history with the facts of the fetched pictures
   * @throws AppError `IMAGE_UNREACHABLE`, `IMAGE_UNREADABLE`, `IMAGE_TOO_LARGE`
   */
  async withPictures(context: RunContext, writer: RunWriter, signal: AbortSignal): Promise<readonly LoggedEvent[]> {
    const { run } = context;
    const missing = unfetched(context);
    let history = context.history;
    if (missing.length > 0) {
      await writer.write(this.progress(context, { code: 'FETCHING_RESOURCES', state: 'active' }));
      const attached = [];
      for (const part of missing) {
        attached.push(await this.pictures.fetch({ id: run.sessionId, tenantId: run.tenantId }, part, signal));
      }
      const done = this.progress(context, { code: 'FETCHING_RESOURCES', state: 'done', attached });
      await writer.write(done);
      history = [...history, { ...done, seq: 0, status: run.status, stage: run.stage } as LoggedEvent];
    }
    if (ownParts(context).some(isPicture))
      await writer.write(this.progress(context, { code: 'ANALYZING_IMAGE', state: 'active' }));
    return history;
  }

  private progress(context: RunContext, fields: EventFields['progress']): EngineEvent {
    return lifecycleEvent(context.run, this.clock, 'progress', fields);
  }
}
