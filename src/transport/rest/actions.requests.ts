import { AppError } from '../../common/app-error.js';
import type { JsonObject } from '../../common/json.js';
import type { CancelRun, MessagePart, OnDisconnect, SubmitMessage } from '../../runs/runs.types.js';
import { CancelActionDto, MessageActionDto, ObserveActionDto } from './actions.dto.js';
import { toResourceInput } from './resources.requests.js';
import { toDto } from './rest-bodies.js';

/**
 * The checked body of `POST /v1/actions`.
 * @throws AppError `NOT_IMPLEMENTED` for an action of the contract that this version lacks
 */
export function toActionDto(body: JsonObject): MessageActionDto | CancelActionDto | ObserveActionDto {
  switch (body['action']) {
    case 'message':
      return toDto(MessageActionDto, body);
    case 'cancel':
      return toDto(CancelActionDto, body);
    case 'observe':
      return toDto(ObserveActionDto, body);
    case 'answer':
    case 'steer':
      throw new AppError('NOT_IMPLEMENTED', `action ${body['action']} is not implemented in this version`);
    default:
      throw new AppError('INVALID_BODY', 'action must be one of message, answer, steer, cancel, observe');
  }
}

/** How a message is sent, beside its body. */
export interface MessageCall {
  /** True when the answer of the call is a stream of the run. */
  readonly attached: boolean;
  /** Of the header or the configuration; the body goes first. */
  readonly onDisconnect: OnDisconnect;
}

/** @throws AppError `INVALID_BODY` for a message of nothing, `RESOURCE_INVALID` for a bad picture */
export function toSubmitMessage(dto: MessageActionDto, call: MessageCall): SubmitMessage {
  const parts: MessagePart[] = (dto.resources ?? []).map((resource, index) => ({
    kind: 'resource',
    resource: toResourceInput(resource, index),
  }));
  if (dto.text !== undefined && dto.text !== '') parts.unshift({ kind: 'text', text: dto.text });
  if (parts.length === 0) throw new AppError('INVALID_BODY', 'a message needs a text or at least one resource');
  return {
    door: 'v1',
    sessionId: dto.session_id,
    requestId: dto.request_id,
    parts,
    attached: call.attached,
    // Nobody observes a JSON answer, so its end means nothing.
    onDisconnect: call.attached ? (dto.on_disconnect ?? call.onDisconnect) : 'continue',
    mode: dto.mode,
    timeZone: dto.time_zone,
    capabilities: dto.capabilities,
    responseSchema: dto.response_schema,
  };
}

export function toCancelRun(dto: CancelActionDto): CancelRun {
  return {
    sessionId: dto.session_id,
    requestId: dto.request_id,
    runId: dto.run_id,
    reason: dto.reason,
  };
}

/**
 * What the header `x-on-disconnect` says.
 * @throws AppError `INVALID_BODY` for another word than `cancel` and `continue`
 */
export function onDisconnectFrom(header: string | string[] | undefined): OnDisconnect | undefined {
  if (header === undefined || header === 'cancel' || header === 'continue') return header;
  throw new AppError('INVALID_BODY', 'x-on-disconnect must be cancel or continue');
}
