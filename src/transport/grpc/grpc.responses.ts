import type { Receipt as AcceptedAction, RunPage as Page, SessionSnapshot as Snapshot } from '../../runs/runs.types.js';
import type { SessionList, SessionView } from '../../sessions/sessions.types.js';
import { toRunPayload } from '../run-payload/run-payload.js';
import { toAuditRequest, toAuditResponse, toReceipt, toRun, toSession } from '../run-payload/run-view.js';
import { Receipt } from './generated/harness/v1/action.js';
import { RunPage } from './generated/harness/v1/run.js';
import { ListSessionsResponse, Session, SessionSnapshot } from './generated/harness/v1/session.js';

export function toProtoSession(session: SessionView): Session {
  return Session.fromJSON(toSession(session));
}

export function toProtoSessionList(list: SessionList): ListSessionsResponse {
  return ListSessionsResponse.fromJSON({
    sessions: list.sessions.map(toSession),
    next_page_token: list.nextPageToken,
    has_more: list.hasMore,
  });
}

export function toProtoReceipt(receipt: AcceptedAction): Receipt {
  return Receipt.fromJSON(toReceipt(receipt));
}

export function toProtoPage(page: Page): RunPage {
  const { facts } = page.run;
  return RunPage.fromJSON({
    session_id: facts.sessionId,
    ...toRun(page.run),
    events: page.events.map((event) => toRunPayload(facts, event)),
    next_cursor: page.nextCursor,
    has_more: page.hasMore,
  });
}

export function toProtoSnapshot(snapshot: Snapshot): SessionSnapshot {
  return SessionSnapshot.fromJSON({
    session: toSession(snapshot.session),
    session_id: snapshot.session.id,
    last_run_id: snapshot.lastRunId,
    last_status: snapshot.lastStatus,
    runs: snapshot.runs.map(({ run, requests, responses, events }) => ({
      ...toRun(run),
      requests: requests.map(toAuditRequest),
      responses: responses.map(toAuditResponse),
      events: events.map((event) => toRunPayload(run.facts, event)),
    })),
    has_more_runs: snapshot.hasMoreRuns,
  });
}
