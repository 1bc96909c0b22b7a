import { readFileSync } from 'node:fs';
import type { EventType } from '../../src/events/harness-event.js';

/** The compiler refuses this list when a type is missing or too many. */
const TYPES: Record<EventType, true> = {
  run_queued: true,
  run_running: true,
  progress: true,
  cancelling: true,
  recovered: true,
  steer_accepted: true,
  steer_applied: true,
  input_required: true,
  answer_accepted: true,
  usage: true,
  imported: true,
  run_completed: true,
  run_failed: true,
  run_cancelled: true,
  run_expired: true,
  run_start: true,
  context_size: true,
  reason_start: true,
  reason_delta: true,
  reason_end: true,
  action_start: true,
  tool_call_start: true,
  tool_call_end: true,
  action_end: true,
  plan: true,
  hitl_pending: true,
  hitl_decided: true,
  run_end: true,
  state_delta: true,
  artifact: true,
};

describe('docs/events.md', () => {
  it('has exactly one row for each event type', () => {
    const rows = [...readFileSync('docs/events.md', 'utf8').matchAll(/^\| `([a-z_]+)` +\|/gm)].map((row) => row[1]);
    expect(rows.toSorted()).toEqual(Object.keys(TYPES).toSorted());
  });
});
