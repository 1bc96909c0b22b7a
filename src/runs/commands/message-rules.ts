import { AppError } from '../../common/app-error.js';
import { canonicalHash } from '../../common/canonical-hash.js';
import { checkId } from '../../common/id-rules.js';
import { checkTimeZone } from '../../common/time-zone.js';
import type { StoredResource } from '../../vision/pictures.types.js';
import type { Session } from '../../sessions/sessions.types.js';
import type { ResourceInput, SubmitMessage } from '../runs.types.js';

/** Checks what can be told from the message alone, before anything is read or written. */
export function checkMessage(command: SubmitMessage): void {
  if (command.door === 'v1' || command.door === 'grpc') checkPublicMessage(command);
  if (command.requestId !== undefined) checkId('request', 'request_id', command.requestId);
  if (command.timeZone !== undefined) checkTimeZone(command.timeZone);
  if (command.mode === 'interrupt' || command.mode === 'rollback') {
    throw new AppError('NOT_IMPLEMENTED', `mode ${command.mode} is not available in this version; use queue or reject`);
  }
}

function checkPublicMessage(command: SubmitMessage): void {
  if (command.requestId === undefined) {
    throw new AppError('REQUEST_ID_REQUIRED', 'request_id is required, so that the request can be repeated safely');
  }
  const hasContent = command.parts?.some((part) => part.kind !== 'text' || part.text !== '') ?? false;
  if (!hasContent) throw new AppError('INVALID_BODY', 'a message needs text or at least one resource');
}

/** The pictures of a message, in its order. */
export function resourcesOf(command: SubmitMessage): ResourceInput[] {
  return (command.parts ?? []).flatMap((part) => (part.kind === 'resource' ? [part.resource] : []));
}

/** @throws AppError `RESOURCE_INVALID` when a message names another source than the stored picture's */
export function checkSourceTypes(resources: readonly ResourceInput[], stored: readonly StoredResource[]): void {
  const kinds = new Map(stored.map(({ resourceId, kind }) => [resourceId, kind]));
  for (const resource of resources) {
    if (resource.kind !== 'stored' || resource.sourceType === undefined) continue;
    const kind = kinds.get(resource.resourceId);
    if (kind === undefined || kind === resource.sourceType) continue;
    const problem = `resource ${resource.resourceId} has the source_type ${kind}, not ${resource.sourceType}`;
    throw new AppError('RESOURCE_INVALID', problem);
  }
}

/** @throws AppError `CAPABILITY_NOT_ENABLED`; `/v1` and gRPC only, the other doors have no capabilities */
export function checkCapabilities(session: Session, command: SubmitMessage): void {
  if (command.door === 'adk' || command.door === 'solon') return;
  const missing = command.capabilities?.find((capability) => !session.capabilities.includes(capability));
  if (missing !== undefined) {
    throw new AppError('CAPABILITY_NOT_ENABLED', `session ${session.id} does not have the capability ${missing}`);
  }
  const granted = command.capabilities ?? session.capabilities;
  if (resourcesOf(command).length > 0 && !granted.includes('vision')) {
    throw new AppError(
      'CAPABILITY_NOT_ENABLED',
      `session ${session.id} takes no pictures: it lacks the capability vision`,
    );
  }
}

/** The hash that tells a repeated request from another one: URLs count without their query, which is signed anew. */
export function messageHash(command: SubmitMessage): string {
  const { door: _door, attached: _attached, requestId: _requestId, onDisconnect: _onDisconnect, ...body } = command;
  return canonicalHash({
    ...body,
    parts: body.parts?.map((part) =>
      part.kind === 'resource' ? { ...part, resource: unsigned(part.resource) } : part,
    ),
  });
}

function unsigned(resource: ResourceInput): ResourceInput {
  return resource.kind === 'url' ? { ...resource, url: resource.url.replace(/[?#].*$/s, '') } : resource;
}
