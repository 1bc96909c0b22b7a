/**
 * The rows that the product writes, in tables with its keys and indices, and nothing else: session, run, input,
 * request, every event, `last_seq` with each commit, the end of the run.
 *
 *   node bench/servers/same-rows.mjs DATABASE-FILE MODEL-URL
 */
import { createHash } from 'node:crypto';
import { openDatabase } from './lib/group-commit.mjs';
import { servePeer } from './lib/peer.mjs';
import { SAME_ROWS_SCHEMA } from './lib/same-rows-schema.mjs';

const [file, modelUrl] = process.argv.slice(2);
const TENANT = 'default';
const NO_USAGE = '{"inputTokens":0,"outputTokens":0,"totalTokens":0,"cachedTokens":0,"estimated":false}';
/** Types from which a conversation is rebuilt: rows of the partial index. */
const HISTORY = new Set(['run_queued', 'reason_end']);

const database = openDatabase(file, SAME_ROWS_SCHEMA);
const insertSession = database.prepare(
  `INSERT INTO sessions (id, tenant_id, app_name, user_id, external_id, state, capabilities, status, created_at, updated_at)
   VALUES (?, '${TENANT}', ?, 'local', ?, '{}', '[]', 'open', ?, ?)`,
);
const nextOrd = database.prepare('SELECT COALESCE(MAX(ord), 0) + 1 AS ord FROM runs WHERE session_id = ?').pluck();
const insertRun = database.prepare(
  `INSERT INTO runs (id, tenant_id, session_id, ord, kind, agent, invocation_id, status, code, stage, language, mode,
     on_disconnect, capabilities, queue_state, available_at, lease_owner, epoch, lease_until, attempt, last_seq, exec_ms,
     active_session_id, token_usage, events_kept, created_at, started_at)
   VALUES (?, '${TENANT}', ?, ?, 'message', 'harness_agent', ?, 'running', 'CALLING_MODEL', 'reasoning', 'en', 'queue',
     'continue', '[]', 'none', ?, 'bench', 1, ?, 1, ?, 0, ?, '${NO_USAGE}', 'all', ?, ?)`,
);
const insertInput = database.prepare(
  `INSERT INTO run_inputs (run_id, n, tenant_id, kind, request_id, actor, body, received_at, applied_seq)
   VALUES (?, 1, '${TENANT}', 'message', ?, 'local', ?, ?, 1)`,
);
const insertRequest = database.prepare(
  `INSERT INTO requests (tenant_id, session_id, request_id, body_hash, run_id, status, response, created_at)
   VALUES ('${TENANT}', ?, ?, ?, ?, 202, ?, ?)`,
);
const insertEvent = database.prepare(
  `INSERT INTO run_events (run_id, seq, tenant_id, session_id, run_ord, type, status, code, stage, at, is_history, data)
   VALUES (?, ?, '${TENANT}', ?, ?, ?, ?, ?, 'reasoning', ?, ?, ?)`,
);
const raiseSeq = database.prepare('UPDATE runs SET last_seq = ?, code = ?, stage = ? WHERE id = ?');
const endRun = database.prepare(
  `UPDATE runs SET status = 'completed', code = 'RUN_COMPLETED', stage = 'completed', lease_owner = NULL,
     lease_until = NULL, last_seq = ?, terminal_seq = ?, exec_ms = ?, active_session_id = NULL, result = ?,
     token_usage = ?, ended_at = ? WHERE id = ?`,
);
const touchSession = database.prepare('UPDATE sessions SET updated_at = ? WHERE id = ?');

function insertEvents(run, events, status) {
  for (const { seq, type, at, data } of events) {
    insertEvent.run(
      run.id,
      seq,
      run.sessionId,
      run.ord,
      type,
      status,
      'CALLING_MODEL',
      at,
      HISTORY.has(type) ? 1 : 0,
      data,
    );
  }
}

const rows = {
  session: ({ id, app, at }) => {
    insertSession.run(id, app, id, at, at);
  },
  begin: (run, events) => {
    const { id, sessionId, requestId, text, at } = run;
    run.ord = nextOrd.get(sessionId);
    insertRun.run(id, sessionId, run.ord, `e-${id}`, at, at + 30_000, events.at(-1).seq, sessionId, at, at);
    insertInput.run(id, requestId, JSON.stringify({ text, resources: [], disposition: 'started' }), at);
    const hash = createHash('sha256')
      .update(JSON.stringify([sessionId, requestId, text]))
      .digest('hex');
    const response = JSON.stringify({ accepted: true, sessionId, runId: id, requestId, action: 'message', cursor: 1 });
    insertRequest.run(sessionId, requestId, hash, id, response, at);
    insertEvents(run, events, 'running');
  },
  append: (run, events) => {
    insertEvents(run, events, 'running');
    raiseSeq.run(events.at(-1).seq, 'CALLING_MODEL', 'reasoning', run.id);
  },
  end: (run, events) => {
    insertEvents(run, events, 'completed');
    const { seq, at, data } = events.at(-1);
    endRun.run(seq, seq, at - run.at, data, NO_USAGE, at, run.id);
    touchSession.run(at, run.sessionId);
  },
};

servePeer(database, rows, modelUrl);
