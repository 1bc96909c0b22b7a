import { Table, TableIndex, TableUnique, type MigrationInterface, type QueryRunner } from 'typeorm';
import { Columns, createTable, kindOf, oneOf } from '../columns.js';

const STATUSES = ['queued', 'running', 'waiting_input', 'cancelling', 'completed', 'failed', 'cancelled', 'expired'];
const ACTIVE = oneOf('status', ['running', 'waiting_input', 'cancelling']);
const OVER = oneOf('status', ['completed', 'failed', 'cancelled', 'expired']);

/** By table and name. */
export const FIRST_CHECKS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  sessions: { ck_sessions_status: oneOf('status', ['open', 'closed', 'erased']) },
  runs: {
    ck_runs_kind: oneOf('kind', ['message', 'import']),
    ck_runs_status: oneOf('status', STATUSES),
    ck_runs_queue_state: oneOf('queue_state', ['ready', 'blocked', 'none']),
    ck_runs_events_kept: oneOf('events_kept', ['all', 'whole_messages', 'terminal']),
    ck_runs_on_disconnect: oneOf('on_disconnect', ['cancel', 'continue']),
    // A run is active from its first start to its end: a queued one keeps the place that it had.
    ck_runs_active: `(${ACTIVE} AND active_session_id IS NOT NULL) OR status = 'queued' OR (${OVER} AND active_session_id IS NULL)`,
  },
  run_events: {
    ck_run_events_status: oneOf('status', STATUSES),
    ck_run_events_is_history: 'is_history IN (0, 1)',
  },
  run_inputs: { ck_run_inputs_kind: oneOf('kind', ['message', 'steer', 'answer', 'decision', 'cancel']) },
  resources: { ck_resources_kind: oneOf('kind', ['upload', 'base64', 'url', 'artifact']) },
};

export const FIRST_TABLES = [
  'sessions',
  'app_states',
  'user_states',
  'runs',
  'run_events',
  'run_inputs',
  'requests',
  'resources',
];

/** Sessions with scoped state, runs with their log and inputs, idempotency, pictures. */
export class CreateSessionsAndRuns1796000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(kindOf(runner));
    await this.create(
      runner,
      new Table({
        name: 'sessions',
        columns: [
          c.id('id', 36, { primary: true }),
          c.id('tenant_id', 64),
          c.id('app_name', 128),
          c.id('user_id', 256),
          c.id('external_id', 256),
          c.json('state'),
          c.integer('version', { default: 1 }),
          c.json('capabilities'),
          c.id('client_reference', 128, { nullable: true }),
          c.id('time_zone', 64, { nullable: true }),
          c.id('status', 16),
          c.epochMs('created_at'),
          c.epochMs('updated_at'),
        ],
        uniques: [
          new TableUnique({
            name: 'uq_sessions_name',
            columnNames: ['tenant_id', 'app_name', 'user_id', 'external_id'],
          }),
        ],
        indices: [
          new TableIndex({ name: 'ix_sessions_reference', columnNames: ['tenant_id', 'client_reference', 'id'] }),
          new TableIndex({ name: 'ix_sessions_list', columnNames: ['tenant_id', 'id'] }),
          new TableIndex({ name: 'ix_sessions_status', columnNames: ['status', 'id'] }),
        ],
      }),
    );
    await this.create(
      runner,
      new Table({
        name: 'app_states',
        columns: [
          c.id('tenant_id', 64, { primary: true }),
          c.id('app_name', 128, { primary: true }),
          c.json('state'),
          c.integer('version', { default: 1 }),
        ],
      }),
    );
    await this.create(
      runner,
      new Table({
        name: 'user_states',
        columns: [
          c.id('tenant_id', 64, { primary: true }),
          c.id('app_name', 128, { primary: true }),
          c.id('user_id', 256, { primary: true }),
          c.json('state'),
          c.integer('version', { default: 1 }),
        ],
      }),
    );
    await this.create(runner, runsTable(c));
    await this.create(runner, runEventsTable(c, kindOf(runner) === 'sqlite'));
    await this.create(
      runner,
      new Table({
        name: 'run_inputs',
        columns: [
          c.id('run_id', 36, { primary: true }),
          c.integer('n', { primary: true }),
          c.id('tenant_id', 64),
          c.id('kind', 16),
          c.id('request_id', 128, { nullable: true }),
          c.id('actor', 256),
          c.json('body'),
          c.longText('model_input_text', { nullable: true }),
          c.id('prompt_version', 64, { nullable: true }),
          c.id('model_id', 128, { nullable: true }),
          c.epochMs('received_at'),
          c.integer('applied_seq', { nullable: true }),
        ],
      }),
    );
    await this.create(
      runner,
      new Table({
        name: 'requests',
        columns: [
          c.id('tenant_id', 64, { primary: true }),
          c.id('session_id', 36, { primary: true }),
          c.id('request_id', 128, { primary: true }),
          c.id('body_hash', 64),
          c.id('run_id', 36, { nullable: true }),
          c.integer('status'),
          c.json('response'),
          c.epochMs('created_at'),
        ],
      }),
    );
    await this.create(
      runner,
      new Table({
        name: 'resources',
        columns: [
          c.id('session_id', 36, { primary: true }),
          c.id('resource_id', 256, { primary: true }),
          c.id('tenant_id', 64),
          c.id('kind', 16),
          c.longText('source_url', { nullable: true }),
          c.longText('sealed_url', { nullable: true }),
          c.id('source_sha256', 64, { nullable: true }),
          c.id('blob_key', 64, { nullable: true }),
          c.id('sha256', 64, { nullable: true }),
          c.id('mime_type', 64, { nullable: true }),
          c.integer('width', { nullable: true }),
          c.integer('height', { nullable: true }),
          c.integer('bytes', { nullable: true }),
          c.epochMs('created_at'),
        ],
        indices: [new TableIndex({ name: 'ix_resources_blob', columnNames: ['blob_key'] })],
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of FIRST_TABLES) await runner.dropTable(table);
  }

  private create(runner: QueryRunner, table: Table): Promise<void> {
    return createTable(runner, table, FIRST_CHECKS[table.name]);
  }
}

function runsTable(c: Columns): Table {
  return new Table({
    name: 'runs',
    columns: [
      c.id('id', 36, { primary: true }),
      c.id('tenant_id', 64),
      c.id('session_id', 36),
      c.integer('ord'),
      c.id('kind', 16),
      c.id('agent', 128),
      c.id('invocation_id', 256),
      c.id('status', 16),
      c.id('code', 64),
      c.id('stage', 32),
      c.id('language', 8),
      c.id('mode', 16, { nullable: true }),
      c.id('on_disconnect', 16),
      c.json('capabilities'),
      c.id('queue_state', 16),
      c.epochMs('available_at'),
      c.integer('priority', { default: 0 }),
      c.id('lease_owner', 64, { nullable: true }),
      c.integer('epoch', { default: 0 }),
      c.epochMs('lease_until', { nullable: true }),
      c.integer('attempt', { default: 0 }),
      c.integer('takeovers', { default: 0 }),
      c.integer('last_seq', { default: 0 }),
      c.integer('terminal_seq', { nullable: true }),
      c.epochMs('exec_ms'),
      c.id('active_session_id', 36, { nullable: true, unique: true }),
      c.epochMs('cancel_requested_at', { nullable: true }),
      c.integer('pending_inputs', { default: 0 }),
      c.json('result', { nullable: true }),
      c.json('error', { nullable: true }),
      c.json('token_usage'),
      c.id('events_kept', 16),
      c.epochMs('created_at'),
      c.epochMs('started_at', { nullable: true }),
      c.epochMs('ended_at', { nullable: true }),
    ],
    uniques: [new TableUnique({ name: 'uq_runs_ord', columnNames: ['session_id', 'ord'] })],
    indices: [
      new TableIndex({ name: 'ix_runs_claim', columnNames: ['queue_state', 'priority', 'available_at', 'id'] }),
      new TableIndex({ name: 'ix_runs_waiting', columnNames: ['queue_state', 'tenant_id'] }),
      new TableIndex({ name: 'ix_runs_lease', columnNames: ['status', 'lease_until'] }),
      new TableIndex({ name: 'ix_runs_list', columnNames: ['tenant_id', 'id'] }),
      new TableIndex({ name: 'ix_runs_kept', columnNames: ['events_kept', 'ended_at'] }),
    ],
  });
}

function runEventsTable(c: Columns, hasPartialIndices: boolean): Table {
  return new Table({
    name: 'run_events',
    columns: [
      c.id('run_id', 36, { primary: true }),
      c.integer('seq', { primary: true }),
      c.id('tenant_id', 64),
      c.id('session_id', 36),
      c.integer('run_ord'),
      c.id('type', 32),
      c.id('status', 16),
      c.id('code', 64),
      c.id('stage', 32),
      c.epochMs('at'),
      c.integer('is_history'),
      c.json('data'),
    ],
    indices: [
      hasPartialIndices
        ? new TableIndex({
            name: 'ix_run_events_history',
            columnNames: ['session_id', 'run_ord', 'seq'],
            where: 'is_history = 1',
          })
        : new TableIndex({
            name: 'ix_run_events_history',
            columnNames: ['session_id', 'is_history', 'run_ord', 'seq'],
          }),
    ],
  });
}
