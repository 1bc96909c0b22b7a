import { Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import { isJsonObject, type Json, type JsonObject } from '../../common/json.js';
import { projectAll } from '../../events/projection.js';
import { RunsService } from '../../runs/runs.service.js';
import type { SessionView } from '../../sessions/sessions.types.js';
import { PicturesService } from '../../vision/pictures.service.js';
import type { AdkEvent } from './adk-event.js';
import type { PicturePart } from './adk-parts.js';
import { AdkProjection } from './adk.projection.js';
import { encodeBase64 } from './validation/base64.js';

/** A larger picture goes by reference. */
const INLINE_BYTES = 32 * 1024;

const PROJECTION = new AdkProjection({ view: 'session', streaming: false });

/** Sessions as the wire shows them. */
@Injectable()
export class AdkSessionView {
  constructor(
    private readonly runs: RunsService,
    private readonly pictures: PicturesService,
  ) {}

  /** The session without its events: a row of the list. */
  row(session: SessionView): JsonObject {
    return toSession(session, [], session.updatedAt / 1000);
  }

  /** The session with every event of its runs. */
  async whole(principal: Principal, session: SessionView): Promise<JsonObject> {
    const runs = await this.runs.history(principal, session.id);
    const wires = runs.flatMap(({ facts, events }) => projectAll(PROJECTION, facts, events));
    const events: AdkEvent[] = [];
    for (const wire of wires) if (wire.kind === 'event') events.push(await this.withPictures(wire.event, session.id));
    const last = events.at(-1)?.['timestamp'];
    return toSession(session, events, typeof last === 'number' ? last : session.createdAt / 1000);
  }

  /** Puts the bytes of stored pictures in the places that the projection keeps for them. */
  private async withPictures(event: AdkEvent, sessionId: string): Promise<AdkEvent> {
    const content = event['content'];
    if (!isJsonObject(content) || !Array.isArray(content['parts'])) return event;
    const parts: Json[] = [];
    for (const part of content['parts'] as readonly Json[])
      parts.push(isPicture(part) ? await this.toPart(part, sessionId) : part);
    return { ...event, content: { ...content, parts } };
  }

  private async toPart({ picture }: PicturePart, sessionId: string): Promise<JsonObject> {
    const { mimeType, displayName } = picture;
    const name: JsonObject = displayName === undefined ? {} : { displayName };
    if (picture.bytes > INLINE_BYTES)
      return { fileData: { ...name, fileUri: `resource://${sessionId}/${picture.resourceId}`, mimeType } };
    const { bytes } = await this.pictures.load(picture);
    return { inlineData: { data: encodeBase64(bytes), ...name, mimeType } };
  }
}

const isPicture = (part: unknown): part is PicturePart => isJsonObject(part) && 'picture' in part;

function toSession(session: SessionView, events: readonly AdkEvent[], lastUpdateTime: number): JsonObject {
  const { externalId, appName, userId, mergedState, state } = session;
  return { id: externalId, appName, userId, state: mergedState ?? state, events, lastUpdateTime };
}
