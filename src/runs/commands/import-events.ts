import { Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import { Clock } from '../../common/clock.js';
import { Ids } from '../../common/ids.js';
import { isJsonObject, type JsonObject } from '../../common/json.js';
import { Database } from '../../database/database.js';
import type { HarnessEvent } from '../../events/harness-event.js';
import { NO_USAGE } from '../../events/values.js';
import { lockSession } from '../../sessions/session-rows.js';
import { applyDelta } from '../../sessions/session-rows.js';
import { withoutTemp } from '../../sessions/state.js';
import { lifecycleEvent } from '../log/lifecycle-events.js';
import { updateRun, writeLifecycle } from '../log/run-rows.js';
import { insertRun, nextOrd, openSession } from './command-rows.js';

/** Writes to a session outside a run: they are a run of kind `import`, created completed. */
@Injectable()
export class ImportEventsCommand {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /**
   * Appends events in the ADK form, applies their state deltas, then `stateDelta` as an event of its own.
   * @throws AppError `SESSION_NOT_FOUND`, `SESSION_CLOSED`
   */
  async import(
    principal: Principal,
    sessionId: string,
    command: { readonly events: readonly JsonObject[]; readonly stateDelta?: JsonObject },
  ): Promise<void> {
    await this.database.inTransaction(async (manager) => {
      const session = await openSession(this.database, manager, principal.tenantId, sessionId);
      const run = await insertRun(manager, session, {
        id: this.ids.next(),
        ord: await nextOrd(manager, sessionId),
        kind: 'import',
        invocationId: `p-${this.ids.next()}`,
        language: 'en',
        mode: null,
        onDisconnect: 'continue',
        capabilities: [],
        queueState: 'none',
        availableAt: this.clock.nowMs(),
        createdAt: this.clock.nowMs(),
      });
      const event = <T extends Parameters<typeof lifecycleEvent>[2]>(
        type: T,
        fields: Parameters<typeof lifecycleEvent<T>>[3],
      ): HarnessEvent => lifecycleEvent(run, this.clock, type, fields) as HarnessEvent;
      const events = [
        event('run_queued', { input: null, queuePosition: 0 }),
        event('run_running', { attempt: 1, hasPictures: false }),
        ...command.events.map((imported) => event('imported', { event: trimmed(imported) })),
        ...(command.stateDelta === undefined ? [] : [event('state_delta', { delta: withoutTemp(command.stateDelta) })]),
        event('run_completed', { result: { type: 'text', data: { text: '' } }, artifacts: [], usage: NO_USAGE }),
      ];
      await updateRun(manager, run.id, { started_at: run.createdAt, attempt: 1 });
      await writeLifecycle(manager, run, events);
      const deltas = [...command.events.map(deltaOf), command.stateDelta ?? {}];
      for (const delta of deltas.filter((item) => Object.keys(item).length > 0)) {
        const current = await lockSession(this.database, manager, principal.tenantId, sessionId);
        await applyDelta(this.database, manager, current?.session ?? session, delta, this.clock.nowMs());
      }
    });
  }
}

function deltaOf(event: JsonObject): JsonObject {
  const actions = event['actions'];
  const delta = isJsonObject(actions) ? actions['stateDelta'] : undefined;
  return isJsonObject(delta) ? delta : {};
}

/** The event as it may be stored: without `temp:` keys. */
function trimmed(event: JsonObject): JsonObject {
  const actions = event['actions'];
  if (!isJsonObject(actions) || !isJsonObject(actions['stateDelta'])) return event;
  return { ...event, actions: { ...actions, stateDelta: withoutTemp(actions['stateDelta']) } };
}
