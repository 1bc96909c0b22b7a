import { validateSync } from 'class-validator';
import { AppError } from '../../common/app-error.js';
import type { CancelRun, MessagePart, OnDisconnect, ResourceInput, SubmitMessage } from '../../runs/runs.types.js';
import type { CreateSession } from '../../sessions/sessions.types.js';
import type { Action, Cancel, Message, ResourceInput as ProtoResource } from './generated/harness/v1/action.js';
import type { CreateSessionRequest } from './generated/harness/v1/session.js';
import type { RuleContext } from './grpc-rules.js';
import { ActionDto, CancelDto, CreateSessionDto, MessageDto, ResourceDto } from './grpc.dto.js';

/**
 * The message as an object of the class, after all its rules.
 * @throws AppError with the reason of the first broken rule
 */
export function checked<T extends object>(dto: new () => T, message: object): T {
  const value = Object.assign(new dto(), message);
  // A class without any rule is valid too.
  const [error] = validateSync(value, { stopAtFirstError: true, forbidUnknownValues: false });
  if (error === undefined) return value;
  const [rule = '', text = `${error.property} is invalid`] = Object.entries(error.constraints ?? {})[0] ?? [];
  const context = error.contexts?.[rule] as RuleContext | undefined;
  throw new AppError(context?.reason ?? 'INVALID_BODY', text);
}

/** @throws AppError for ids, capabilities, time zone and reference that no session can have */
export function toCreateSession(request: CreateSessionRequest): CreateSession {
  const dto = checked(CreateSessionDto, request);
  return {
    agent: dto.agent,
    userId: dto.user_id,
    // Proto cannot tell an empty list from none; the default is what callers expect.
    ...(dto.capabilities.length > 0 && { capabilities: dto.capabilities }),
    clientReference: dto.client_reference,
    timeZone: dto.time_zone,
    state: dto.state,
    requestId: dto.request_id,
  };
}

/** What an action asks for, checked. */
export type ActionCommand =
  | { readonly kind: 'message'; readonly submit: SubmitMessage }
  | { readonly kind: 'cancel'; readonly cancel: CancelRun };

/** Facts of the call that a message follows. */
export interface CallFacts {
  /** True when the answer of this call observes the run. */
  readonly attached: boolean;
  /** Used when the message does not say it. */
  readonly onDisconnect: OnDisconnect;
}

/**
 * What the end of the call means for its run, unless the message says it.
 * @param header of the call, `x-on-disconnect`
 * @throws AppError `INVALID_BODY` for any other word than `cancel` and `continue`
 */
export function toOnDisconnect(header: string | Buffer | undefined, byDefault: OnDisconnect): OnDisconnect {
  if (header === undefined) return byDefault;
  if (header === 'cancel' || header === 'continue') return header;
  throw new AppError('INVALID_BODY', 'x-on-disconnect must be one of cancel, continue');
}

/**
 * @throws AppError `NOT_IMPLEMENTED` for what this version does not do, else the reason of the first broken rule
 */
export function toCommand(action: Action, facts: CallFacts): ActionCommand {
  const { session_id: sessionId, request_id: requestId } = checked(ActionDto, action);
  const asked = action.action;
  switch (asked?.$case) {
    case 'message':
      return { kind: 'message', submit: { sessionId, requestId, ...toMessage(asked.value, facts) } };
    case 'cancel':
      return { kind: 'cancel', cancel: { sessionId, requestId, ...toCancel(asked.value) } };
    case 'answer':
    case 'steer':
      throw new AppError('NOT_IMPLEMENTED', `the action ${asked.$case} is not available`);
    default:
      throw new AppError('INVALID_BODY', 'action must be one of message, answer, steer, cancel');
  }
}

type MessageFields = Omit<SubmitMessage, 'sessionId' | 'requestId'>;

function toMessage(message: Message, facts: CallFacts): MessageFields {
  const dto = checked(MessageDto, message);
  if (dto.webhook !== undefined) throw new AppError('NOT_IMPLEMENTED', 'webhook is not available');
  const text = dto.text ?? '';
  const resources = dto.resources.map(toResource);
  if (text === '' && resources.length === 0) {
    throw new AppError('INVALID_BODY', 'a message needs a text or at least one resource');
  }
  const parts: MessagePart[] = resources.map((resource) => ({ kind: 'resource', resource }));
  if (text !== '') parts.unshift({ kind: 'text', text });
  return {
    door: 'grpc',
    attached: facts.attached,
    parts,
    mode: dto.mode,
    timeZone: dto.time_zone,
    // Empty means the session's: see toCreateSession.
    ...(dto.capabilities.length > 0 && { capabilities: dto.capabilities }),
    responseSchema: dto.response_schema,
    // Nobody observes the answer of Submit, so its end means nothing.
    onDisconnect: facts.attached ? (dto.on_disconnect ?? facts.onDisconnect) : 'continue',
  };
}

function toCancel(cancel: Cancel): Omit<CancelRun, 'sessionId' | 'requestId'> {
  const dto = checked(CancelDto, cancel);
  return { runId: dto.run_id, reason: dto.reason };
}

function toResource(resource: ProtoResource): ResourceInput {
  const {
    resource_id: resourceId,
    source,
    mime_type: mimeType,
    source_type: sourceType,
  } = checked(ResourceDto, resource);
  const agree = (...types: readonly string[]): void => {
    if (sourceType === undefined || types.includes(sourceType)) return;
    throw new AppError('RESOURCE_INVALID', `source_type ${sourceType} does not agree with what the resource holds`);
  };
  switch (source?.$case) {
    case 'url':
      agree('url');
      return { kind: 'url', resourceId, url: source.value };
    case 'data':
      agree('base64');
      return { kind: 'bytes', resourceId, bytes: source.value, mimeType };
    case 'artifact_id':
      throw new AppError('NOT_IMPLEMENTED', 'artifact_id is not available');
    default:
      if (resourceId === undefined) {
        throw new AppError('RESOURCE_INVALID', 'a resource needs url, data, artifact_id or resource_id');
      }
      // A picture used before keeps the source_type of its first use, which only the store knows.
      return { kind: 'stored', resourceId, sourceType };
  }
}
