import type { JsonObject } from '../../common/json.js';
import type { LoggedEvent, RunFacts } from '../../events/projection.js';
import type { RunPage, RunRecord, SessionSnapshot } from '../../runs/runs.types.js';
import type { SessionList } from '../../sessions/sessions.types.js';
import type { StoredResource } from '../../vision/pictures.types.js';
import { toRunPayload } from '../run-payload/run-payload.js';
import { toAuditRequest, toAuditResponse, toRun, toSession } from '../run-payload/run-view.js';

/** An event of a list: its payload without what the list says once. */
export function toEventItem(run: RunFacts, event: LoggedEvent): JsonObject {
  const { id, type, data } = toRunPayload(run, event);
  const { session_id, run_id, capabilities, status, ...own } = data;
  void [session_id, run_id, capabilities, status];
  return { id, type, ...own };
}

/** The answer to a poll: the run as it is now and the events behind the cursor. */
export function toPage(page: RunPage): JsonObject {
  const { run_id, status, code, stage, capabilities, ...rest } = toRun(page.run);
  return {
    session_id: page.run.facts.sessionId,
    run_id,
    capabilities,
    status,
    code,
    stage,
    events: page.events.map((event) => toEventItem(page.run.facts, event)),
    next_cursor: page.nextCursor,
    has_more: page.hasMore,
    ...rest,
  } as JsonObject;
}

/** A session and its newest runs. */
export function toSnapshot(snapshot: SessionSnapshot): JsonObject {
  return {
    session: toSession(snapshot.session),
    session_id: snapshot.session.id,
    last_run_id: snapshot.lastRunId,
    last_status: snapshot.lastStatus,
    runs: snapshot.runs.map(toRunRecord),
    has_more_runs: snapshot.hasMoreRuns,
  };
}

function toRunRecord({ run, requests, responses, events }: RunRecord): JsonObject {
  const { run_id, status, code, stage, capabilities, ...rest } = toRun(run);
  return {
    run_id,
    status,
    code,
    stage,
    capabilities,
    requests: requests.map(toAuditRequest),
    responses: responses.map(toAuditResponse),
    events: events.map((event) => toEventItem(run.facts, event)),
    ...rest,
  } as JsonObject;
}

/** One page of sessions, newest first. */
export function toSessionList(list: SessionList): JsonObject {
  return {
    sessions: list.sessions.map(toSession),
    next_page_token: list.nextPageToken,
    has_more: list.hasMore,
  };
}

/** An uploaded picture; `sha256`, `bytes`, `width` and `height` describe what is stored. */
export function toResource({ resourceId, kind, sourceUrl, picture }: StoredResource): JsonObject {
  return {
    index: 0,
    resource_id: resourceId,
    source_type: kind,
    url: sourceUrl,
    width: picture?.width ?? null,
    height: picture?.height ?? null,
    mime_type: picture?.mimeType ?? null,
    bytes: picture?.bytes ?? null,
    sha256: picture?.sha256 ?? null,
    url_expires_at: null,
  };
}
