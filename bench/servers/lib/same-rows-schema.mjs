/** The product's tables of sessions and runs, with the keys and indices that each write has to keep up. */
export const SAME_ROWS_SCHEMA = `
CREATE TABLE sessions (
  id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, app_name TEXT NOT NULL, user_id TEXT NOT NULL,
  external_id TEXT NOT NULL, state TEXT NOT NULL, version INTEGER NOT NULL DEFAULT 1, capabilities TEXT NOT NULL,
  client_reference TEXT, time_zone TEXT, status TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  UNIQUE (tenant_id, app_name, user_id, external_id)
);
CREATE INDEX ix_sessions_reference ON sessions (tenant_id, client_reference, id);
CREATE INDEX ix_sessions_list ON sessions (tenant_id, id);
CREATE INDEX ix_sessions_status ON sessions (status, id);
CREATE TABLE runs (
  id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, session_id TEXT NOT NULL, ord INTEGER NOT NULL, kind TEXT NOT NULL,
  agent TEXT NOT NULL, invocation_id TEXT NOT NULL, status TEXT NOT NULL, code TEXT NOT NULL, stage TEXT NOT NULL,
  language TEXT NOT NULL, mode TEXT, on_disconnect TEXT NOT NULL, capabilities TEXT NOT NULL,
  queue_state TEXT NOT NULL, available_at INTEGER NOT NULL, priority INTEGER NOT NULL DEFAULT 0, lease_owner TEXT,
  epoch INTEGER NOT NULL DEFAULT 0, lease_until INTEGER, attempt INTEGER NOT NULL DEFAULT 0,
  takeovers INTEGER NOT NULL DEFAULT 0, last_seq INTEGER NOT NULL DEFAULT 0, terminal_seq INTEGER,
  exec_ms INTEGER NOT NULL, active_session_id TEXT UNIQUE, cancel_requested_at INTEGER,
  pending_inputs INTEGER NOT NULL DEFAULT 0, result TEXT, error TEXT, token_usage TEXT NOT NULL,
  events_kept TEXT NOT NULL, created_at INTEGER NOT NULL, started_at INTEGER, ended_at INTEGER,
  UNIQUE (session_id, ord)
);
CREATE INDEX ix_runs_claim ON runs (queue_state, priority, available_at, id);
CREATE INDEX ix_runs_waiting ON runs (queue_state, tenant_id);
CREATE INDEX ix_runs_lease ON runs (status, lease_until);
CREATE INDEX ix_runs_list ON runs (tenant_id, id);
CREATE INDEX ix_runs_kept ON runs (events_kept, ended_at);
CREATE TABLE run_inputs (
  run_id TEXT NOT NULL, n INTEGER NOT NULL, tenant_id TEXT NOT NULL, kind TEXT NOT NULL, request_id TEXT,
  actor TEXT NOT NULL, body TEXT NOT NULL, received_at INTEGER NOT NULL, applied_seq INTEGER, PRIMARY KEY (run_id, n)
);
CREATE TABLE requests (
  tenant_id TEXT NOT NULL, session_id TEXT NOT NULL, request_id TEXT NOT NULL, body_hash TEXT NOT NULL, run_id TEXT,
  status INTEGER NOT NULL, response TEXT NOT NULL, created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, session_id, request_id)
);
CREATE TABLE run_events (
  run_id TEXT NOT NULL, seq INTEGER NOT NULL, tenant_id TEXT NOT NULL, session_id TEXT NOT NULL,
  run_ord INTEGER NOT NULL, type TEXT NOT NULL, status TEXT NOT NULL, code TEXT NOT NULL, stage TEXT NOT NULL,
  at INTEGER NOT NULL, is_history INTEGER NOT NULL, data TEXT NOT NULL, PRIMARY KEY (run_id, seq)
);
CREATE INDEX ix_run_events_history ON run_events (session_id, run_ord, seq) WHERE is_history = 1;
`;
