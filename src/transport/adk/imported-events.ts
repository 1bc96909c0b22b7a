import { isJsonObject, type Json, type JsonObject } from '../../common/json.js';
import { withoutTemp } from './adk-event.js';
import type { AdkBody } from './adk-json.js';
import { EventActionsDto, NodeInfo, type EventDto } from './session.dto.js';
import { refuse, toIssue, valueError } from './validation/issue.js';
import { toWire } from './validation/read-model.js';
import { echo } from './validation/validate.js';

const BOTH = "'message' and 'content' are mutually exclusive. Use one or the other.";

/**
 * The body with the short forms of its events written out: `message` is content, `state` and `route` are actions,
 * `node_path` is the path of the node.
 * @throws AdkRefusal 422 when an event has both `message` and `content`
 */
export function withoutShortForms(body: AdkBody): AdkBody {
  if (body.kind !== 'json' || !isJsonObject(body.value) || !Array.isArray(body.value['events'])) return body;
  const events = body.value['events'].map((event: Json, index) =>
    isJsonObject(event) ? longForm(event, index) : event,
  );
  return { kind: 'json', value: { ...body.value, events } };
}

function longForm({ message, state, route, node_path: nodePath, ...event }: JsonObject, index: number): JsonObject {
  if (message !== undefined && event['content'] !== undefined)
    throw refuse([toIssue(valueError(BOTH), ['body', 'events', index], echo(event))]);
  const actions = {
    ...(isJsonObject(event['actions']) && event['actions']),
    ...(state !== undefined && { stateDelta: state }),
    ...(route !== undefined && { route }),
  };
  return {
    ...event,
    ...(message !== undefined && { content: toContent(message) }),
    ...(Object.keys(actions).length > 0 && { actions }),
    ...(nodePath !== undefined && { nodeInfo: { path: nodePath } }),
  };
}

const toContent = (message: Json): Json =>
  typeof message === 'string' ? { parts: [{ text: message }], role: 'user' } : message;

/**
 * A valid event as it is kept and shown: defaults filled in, `temp:` keys trimmed.
 * @param defaults identity and time (seconds) of an event that has none
 */
export function toImported(event: EventDto, defaults: { readonly id: string; readonly timestamp: number }): JsonObject {
  const actions = event.actions ?? new EventActionsDto();
  actions.stateDelta = withoutTemp(actions.stateDelta as JsonObject);
  event.actions = actions;
  event.nodeInfo ??= new NodeInfo();
  event.id = event.id === undefined || event.id === '' ? defaults.id : event.id;
  event.timestamp ??= defaults.timestamp;
  return toWire(event);
}
