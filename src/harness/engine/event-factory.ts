import type { JsonObject } from '../../common/json.js';
import type { EngineEventType, EventFields, EventOf } from '../../events/harness-event.js';
import type { EngineInput } from './engine-input.js';

/** Makes the events of one engine run: stamped with run, session, stream, agent and time, and frozen to the bottom. */
export class EventFactory {
  constructor(private readonly input: EngineInput) {}

  make<T extends EngineEventType>(type: T, fields: EventFields[T], meta?: JsonObject): EventOf<T> {
    const { runId, agentName, sessionId, streamId, clock, parent } = this.input;
    const common = { type, runId, at: clock.nowMs(), agentName, sessionId, streamId };
    const rest = { ...(meta !== undefined && { meta }), ...(parent !== undefined && { parent }) };
    return deepFreeze({ ...common, ...fields, ...rest } as unknown as EventOf<T>);
  }
}

/** Freezes plain data to the bottom. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const key in value) deepFreeze(value[key]);
  }
  return value;
}
