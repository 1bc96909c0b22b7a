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

/** Every type of event. */
export const EVENT_TYPES: readonly string[] = Object.keys(TYPES);
